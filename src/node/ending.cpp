// SPDX-License-Identifier: Apache-2.0
#include "node/ending.h"

#include <cerrno>

namespace sennit::node {
namespace {

void sleep_for(timespec left) {
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

} // namespace

// All relaxed: only the word itself counts.
void Ending::claim(std::uint64_t job, const timespec &patience) {
    constexpr std::uint64_t most = 1 << 16; // claims of a job: each takes long
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    std::uint64_t outwaited = 0; // a claim
    for (;;) {
        const bool is_claimed = seen - job < most;
        if (is_claimed && seen != outwaited) {
            sleep_for(patience);
            outwaited = seen;
            seen = word_.load(std::memory_order_relaxed);
        } else if (word_.compare_exchange_strong(seen, is_claimed ? seen + 1 : job,
                                                 std::memory_order_relaxed)) {
            return;
        }
    }
}

} // namespace sennit::node
