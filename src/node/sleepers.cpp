// SPDX-License-Identifier: Apache-2.0
#include "node/sleepers.h"

namespace sennit::node {

Sleepers::Sleepers(Board &board, const Cores &cores, std::int64_t now, std::atomic<int> &from) {
    // Noted longer ago than that, it was another clock's time.
    constexpr std::int64_t longest_ns = 3'600'000'000'000;
    const CoreTable &table = board.core_table();
    const int last = table.end(), first = from.load(std::memory_order_relaxed);
    for (int i = 0, looks = 0; i < last && looks < kLooks; ++i) {
        const int core = (first + i) % last;
        const CoreState state = table.state(core);
        const Hold hold{core, state.use};
        const int thread = table.thread_of(hold);
        if (state.user == kNobody || state.rests || thread == 0 || !cores.has(core))
            continue;
        const std::int64_t used_ns = now - table.since_ns(core);
        if (used_ns >= 0 && used_ns < kKeptNs)
            continue;
        ++looks;
        from.store(core + 1, std::memory_order_relaxed);
        const Identity holder = board.slot(state.user).holder.load(std::memory_order_relaxed);
        if (is_asleep(pid_of(holder), thread))
            found_[count_++] = {hold, state.user,
                                used_ns >= 0 && used_ns < longest_ns ? used_ns : 0};
    }
}

} // namespace sennit::node
