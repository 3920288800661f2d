// SPDX-License-Identifier: Apache-2.0
// A pool: a board that has a name, so that programs started at any time meet on it (`sennit pool`).
//
// Its file is beside the user's own board. How a program takes part stands in its environment:
// SENNIT_POOL, SENNIT_SHARE, SENNIT_PRIORITY.
#pragma once

#include "node/segment.h"

#include <cstdint>
#include <string_view>

namespace sennit::node {

constexpr std::size_t kLongestPoolName = 31;
constexpr char kPoolSuffix[] = "-pool-"; // between board_path() and the name

// Letters, digits, '_', '-' and '.', the first one a letter or a digit: it becomes a file's name.
bool is_pool_name(std::string_view name);
// Where the pool's board is; `size`: of `path`.
void pool_path(std::string_view name, char *path, std::size_t size);

// "3/4", "0.75" or "2": a part of the pool or a number of parts, relative to those of the other
// programs; more than 0. False: it is none.
bool read_share(std::string_view text, double &share);

// Which program is served first.
struct Precedence {
    std::int32_t priority = 0; // the greater one
    bool leftover = false;     // after all others: only what they leave
};
// A whole number, or "leftover". False: it is neither.
bool read_priority(std::string_view text, Precedence &precedence);

// How this process takes part.
struct Membership {
    bool in_pool = false;
    char path[256] = ""; // of the board: the pool's, or the user's own (board_path)
    double share = 1;
    Precedence precedence;
};
// As the environment says. What makes no sense there has no effect; `bad` says so.
Membership read_membership(Reason &bad);

} // namespace sennit::node
