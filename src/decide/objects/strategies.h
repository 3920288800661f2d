// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decide/objects/problem.h"

#include <span>
#include <string_view>

namespace sennit::balance {

// On which PE should each object be? Strategies are small classes, and pure functions of the
// problem: the same problem has the same answer each time.

class Strategy {
  public:
    Strategy() = default;
    Strategy(const Strategy &) = delete;
    Strategy &operator=(const Strategy &) = delete;
    virtual ~Strategy() = default;
    virtual Assignment assign(const Problem &problem) const = 0;
    virtual bool looks_at_links() const { return false; }
    virtual bool looks_ahead() const { return false; } // outlook.h
    // False: the strategy moves objects only for the sake of moving them, no matter what that
    // costs.
    virtual bool is_for_balance() const { return true; }
};

// The strategy of this name. nullptr: there is none.
//
//   none          every object stays
//   greedy        GreedyLB of Charm++ (the paper's): the heaviest object goes to the least loaded
//                 PE, then the next one. The best balance, but nearly every object moves
//   greedycomm    GreedyCommLB of Charm++: the same, but an object's links count, too
//   refine        RefineLB of Charm++: objects leave PEs that have more than 2% too much. Few moves
//   refinecomm    the same, but an object's links count, too
//   hierarchical  nodes first, by refining; then the PEs of each node: greedily, or by refining if
//                 it costs something to move within a node
//   hierarchicalcomm  the same by refinecomm, then by greedycomm or refinecomm
//   spread        for work that moves through space: neighbours go to different nodes, then as
//                 hierarchical. Needs positions
//   follow        for work that moves through space: loads are those that are expected (outlook.h).
//                 Objects that a front reaches at the same time go to different nodes, others stay.
//                 Without a front as spread. Needs positions, or links
//   rotate        every object goes to the next PE: a test of moving
//   random        an object goes anywhere: a test of moving; the same problem has the same answer
const Strategy *strategy_of(std::string_view name);
// The name is a literal: its data end with a zero.
std::string_view name_of(const Strategy &strategy);
std::span<const std::string_view> strategy_names();

} // namespace sennit::balance
