// SPDX-License-Identifier: Apache-2.0
#include "mpi/engine/quick_flushes.h"

namespace sennit::mpi {

SeenFlushes::Seen &SeenFlushes::seen(const SameCall &flush) {
    const auto handle = static_cast<std::uint64_t>(flush.object.handle);
    return seen_[(handle / 16 + static_cast<unsigned>(flush.target)) % kSeen];
}

bool SeenFlushes::may_make(const SameCall &flush) {
    const Guard guard(lock_);
    if (wary_ > 0) {
        --wary_;
        return false;
    }
    const Seen &known = seen(flush);
    return known.is_short && known.locks == locks() && known.flush == flush;
}

bool SeenFlushes::knows(const SameCall &flush) {
    const Guard guard(lock_);
    const Seen &known = seen(flush);
    return known.locks == locks() && known.flush == flush;
}

void SeenFlushes::add(const SameCall &flush, std::uint32_t locks, std::int64_t ns) {
    const bool is_short = ns < kLongNs;
    const Guard guard(lock_);
    seen(flush) = {flush, locks, is_short};
    if (!is_short)
        wary_ = kWary;
}

} // namespace sennit::mpi
