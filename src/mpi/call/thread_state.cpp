// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/thread_state.h"

#include "base/compiler.h"
#include "mpi/call/bare.h"

#include <utility>

namespace sennit::mpi {

SENNIT_HOT bool Blocking::may_mark() {
    if (marked_call() == &g_unknown) {
        static const auto tell = reinterpret_cast<decltype(&::sennit_thread_blocks)>(
            find_in_runtime("sennit_thread_blocks"));
        t_mark.call = nullptr;
        if (tell)
            tell(&t_mark); // else, and without memory, nobody asks
    }
    return !is_marked();
}

SENNIT_HOT Blocking::Blocking(const Operation &operation) {
    if (!may_mark())
        return;
    const bool of_requests = operation.requests > 0;
    BlockedMark::set_said({operation.name, static_cast<int>(operation.notice), of_requests});
    mark_.emplace(t_mark.said, of_requests ? operation.requests : operation.peer, operation.tag,
                  of_requests ? handle_bits(operation.handles) : group_of(operation.object));
}

SENNIT_TLS int InCallback::t_depth;
SENNIT_TLS bool InCallback::t_blocked;
SENNIT_TLS std::atomic<Habit> *InCallback::t_habit;

void InCallback::note_that_it_blocks() {
    std::exchange(t_habit, nullptr)->store(Habit::blocks, std::memory_order_relaxed);
}

} // namespace sennit::mpi
