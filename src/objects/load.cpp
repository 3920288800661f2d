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
    watch_messages(false);
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

void Load::watch_messages(bool on) {
    const Runtime &runtime = Runtime::get();
    if (on == is_watched_ || account_ == 0 || !runtime.counts_traffic())
        return;
    is_watched_ = runtime.traffic_watch(account_, on ? 1 : 0) == SENNIT_SUCCESS && on;
}

void Load::take_messages(int object, std::vector<balance::Mail> &mail) {
    if (!is_watched_)
        return;
    struct Sink {
        int object;
        std::vector<balance::Mail> &mail;
    } sink{object, mail};
    Runtime::get().traffic_take(
        account_,
        [](void *arg, const sennit_traffic *row) {
            const Sink &to = *static_cast<Sink *>(arg);
            static_assert(SENNIT_TRACE_ANY == balance::kAnyone);
            to.mail.push_back({row->direction == SENNIT_NOTICE_SEND, row->process, row->peer,
                               row->tag, to.object, static_cast<double>(row->bytes)});
        },
        &sink);
}

} // namespace sennit::objects
