// SPDX-License-Identifier: Apache-2.0
#include "sched/order.h"

#include "base/assert.h"
#include "base/message.h"
#include "sched/ordered_queue.h"
#include "sched/worker.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace sennit::sched {

namespace detail {
policy::Rules g_rules;
policy::Machine g_machine;
} // namespace detail

std::atomic<bool> g_outdated{false};

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

void make_queues(Group &group) {
    const auto count = static_cast<std::size_t>(machine().nodes);
    void *memory = std::aligned_alloc(kCacheLine, count * sizeof(OrderedQueue));
    if (!memory)
        fatal("no memory for a team's queues (%zu bytes)", count * sizeof(OrderedQueue));
    group.queues = new (memory) OrderedQueue[count];
}

void drop_queues(Group &group) {
    for (int i = 0; group.queues && i < machine().nodes; ++i) {
        SENNIT_ASSERT(group.queues[i].count() == 0);
        group.queues[i].~OrderedQueue();
    }
    std::free(group.queues);
}

} // namespace sennit::sched
