// SPDX-License-Identifier: Apache-2.0
// Where should each object be? Strategies as small classes; pure functions of the problem: the same
// problem has the same answer each time.
#pragma once

#include "balance/problem.h"

#include <span>
#include <string_view>

namespace sennit::balance {

class Strategy {
  public:
    Strategy() = default;
    Strategy(const Strategy &) = delete;
    Strategy &operator=(const Strategy &) = delete;
    virtual ~Strategy() = default;
    virtual Assignment assign(const Problem &problem) const = 0;
    virtual bool looks_at_links() const { return false; }
    // Not: it moves objects for the sake of moving them, whatever that costs.
    virtual bool is_for_balance() const { return true; }
};

// nullptr: there is none of this name.
//
//   none          everything stays
//   greedy        GreedyLB of Charm++ (the paper's): the heaviest object to the least loaded PE,
//   and
//                 so on. The best balance, but nearly every object moves
//   greedycomm    the same, but who talks to an object counts, too (GreedyCommLB of Charm++)
//   refine        RefineLB of Charm++: objects leave PEs that have more than 2% too much. Few moves
//   hierarchical  nodes first, by refining; then the PEs of each node, greedily
//   spread        for work that moves through space: neighbours to different nodes, then as
//                 hierarchical. Needs positions
//   rotate        every object to the next PE: a test of moving
//   random        anywhere: a test of moving; the same problem has the same answer
const Strategy *strategy_of(std::string_view name);
// A literal: its data end with a zero.
std::string_view name_of(const Strategy &strategy);
std::span<const std::string_view> strategy_names();

} // namespace sennit::balance
