// SPDX-License-Identifier: Apache-2.0
// A node's board, and processes that have a slot each. Each thread of a test is a process.
#pragma once

#include "node/board.h"
#include "schedules.h"

#include <functional>
#include <span>
#include <vector>

namespace sennit::schedules {

// What a test sets in its begin().
struct Rooms {
    std::size_t process = 0;                    // whose thread runs
    std::function<bool(std::size_t)> is_killed; // a process
};
extern Rooms g_rooms;

// The first slots of a board, and its first cores, which nobody uses or owns. Processes that live
// for ever have all other slots.
void begin_board(node::Board &board, int slots, int cores);
void add_memory_of(node::Board &board, int slots, int cores,
                   std::vector<std::span<std::byte>> &all);

} // namespace sennit::schedules
