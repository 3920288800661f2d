// SPDX-License-Identifier: Apache-2.0
// A pool: a board that has a name, so that programs started at any time meet on it (`sennit pool`).
//
// Its file is beside the user's own board. A program's environment says how the program takes part:
// SENNIT_POOL, SENNIT_SHARE, SENNIT_PRIORITY.
#pragma once

#include "node/segment.h"

#include <cstdint>
#include <string_view>

namespace sennit::node {

constexpr std::size_t kLongestPoolName = 31;
constexpr char kPoolSuffix[] = "-pool-"; // between board_path() and the name

// Has the name only letters, digits, '_', '-' and '.', and does it begin with a letter or a digit?
// It becomes a part of a file's name.
bool is_pool_name(std::string_view name);
// Write the path of the pool's board into `path`, which has `size` bytes.
void pool_path(std::string_view name, char *path, std::size_t size);

// Read a share, such as "3/4", "0.75" or "2": more than 0, and relative to the shares of the other
// programs. False: it is none.
bool read_share(std::string_view text, double &share);

// Which program is served first.
struct Precedence {
    std::int32_t priority = 0; // the greater one
    bool leftover = false;     // after all others: only what they leave
};
// Read a whole number, or "leftover". False: it is neither.
bool read_priority(std::string_view text, Precedence &precedence);

// How this process takes part.
struct Membership {
    bool in_pool = false;
    char path[kPathRoom] = ""; // of the board: the pool's, or the user's own (board_path)
    double share = 1;
    Precedence precedence;
};
// Read the membership from the environment. A value that makes no sense has no effect; `bad` names
// it.
Membership read_membership(Reason &bad);

} // namespace sennit::node
