// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/callback_state.h"

#include <utility>

namespace sennit::mpi {

SENNIT_TLS int InCallback::t_depth;
SENNIT_TLS bool InCallback::t_blocked;
SENNIT_TLS std::atomic<Habit> *InCallback::t_habit;

void InCallback::note_that_it_blocks() {
    std::exchange(t_habit, nullptr)->store(Habit::blocks, std::memory_order_relaxed);
}

} // namespace sennit::mpi
