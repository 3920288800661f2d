// SPDX-License-Identifier: Apache-2.0
#include "sched/order.h"

#include "base/config.h"

#include <atomic>

namespace sennit::sched {

namespace detail {
policy::Rules g_rules;
policy::Machine g_machine;
} // namespace detail

static std::atomic<std::uint32_t> g_age{0};

void order_setup() {
    detail::g_rules = policy::rules_of(config().policy, config().order);
}

void set_machine(const policy::Machine &machine) {
    detail::g_machine = machine;
}

std::uint32_t next_age() {
    return g_age.fetch_add(1, std::memory_order_relaxed);
}

} // namespace sennit::sched
