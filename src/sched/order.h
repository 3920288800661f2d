// SPDX-License-Identifier: Apache-2.0
// The order of ready tasks in this process, as SENNIT_POLICY and SENNIT_ORDER ask for it. Under
// `steal` each team member has a queue of its own (queue.h), newest first, and steals. Under every
// other policy the members of a team share one ordered queue per NUMA node (ordered_queue.h).
#pragma once

#include "base/compiler.h"
#include "sched/node.h"
#include "sched/policy/rules.h"
#include "sched/policy/tree.h"

#include <cstdint>

namespace sennit::sched {

namespace detail {
extern policy::Rules g_rules;
extern policy::Machine g_machine;
} // namespace detail

// Constant once the library is loaded.
inline const policy::Rules &rules() {
    return detail::g_rules;
}
inline bool ordered() {
    return SENNIT_UNLIKELY(detail::g_rules.ordered);
}
inline const policy::Machine &machine() {
    return detail::g_machine;
}
void order_setup();
void set_machine(const policy::Machine &machine); // before the first team is made

inline std::uint64_t key_of(const Node &node) {
    return policy::key(rules(), node.current_priority(), node.age);
}
std::uint32_t next_age();
// It is ready now: where an order counts ages from that moment, this is its age.
inline void note_ready(Node *node) {
    if (!rules().by_creation)
        node->age = next_age();
}

} // namespace sennit::sched
