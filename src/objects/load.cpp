// SPDX-License-Identifier: Apache-2.0
#include "objects/load.h"

#include "objects/runtime.h"

namespace sennit::objects {

Load::Load() {
    const Runtime &runtime = Runtime::get();
    if (runtime.has_accounts() && runtime.account_open(&account_) != SENNIT_SUCCESS)
        account_ = 0;
}

Load::~Load() {
    if (account_ != 0)
        Runtime::get().account_close(account_);
}

std::int64_t Load::take() {
    std::uint64_t ns = taken_ns_;
    if (account_ != 0)
        Runtime::get().account_time(account_, &ns);
    const auto more = static_cast<std::int64_t>(ns - taken_ns_);
    taken_ns_ = ns;
    return more + added_ns_.exchange(0, std::memory_order_relaxed);
}

} // namespace sennit::objects
