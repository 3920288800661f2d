// SPDX-License-Identifier: Apache-2.0
// Begin and end of sharing the node's cores with other processes (sched/cores.h).
#pragma once

#include "node/board.h"

namespace sennit::sched {

// Take part, with a slot of a board that stays mapped. The calling thread computes. Once.
void begin_sharing(node::Board &board, node::Slot &slot);
void end_sharing();
// Could one more thread have a core now? A hint.
bool could_have_more_cores();
void forget_sharing(); // in the child of fork()

} // namespace sennit::sched
