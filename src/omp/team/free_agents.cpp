// SPDX-License-Identifier: Apache-2.0
#include "omp/team/free_agents.h"
#include "omp/team/commons.h"

#include "base/config.h"
#include "sched/processors.h"

#include <atomic>

namespace sennit::omp {
namespace {

std::atomic<Team *> g_agents{nullptr};
SpinLock g_making;
std::atomic<int> g_busy{0}; // tasks that agents have been given and have not ended

bool in_reduction(const Task &task) {
    for (const Taskgroup *group = task.taskgroup; group; group = group->outer)
        if (group->reductions)
            return true; // a private copy belongs to a thread of the team
    return false;
}

// Only as many tasks as there are agents: the team's own threads take the others.
bool take_agent(const Team &agents) {
    int busy = g_busy.load(std::memory_order_relaxed);
    do
        if (busy >= agents.size)
            return false;
    while (!g_busy.compare_exchange_weak(busy, busy + 1, std::memory_order_relaxed));
    return true;
}

Member &agent_at(const sched::Worker &worker) {
    Team &agents = *g_agents.load(std::memory_order_acquire);
    int i = 0;
    while (agents.member(i).worker.load(std::memory_order_relaxed) != &worker)
        ++i;
    return agents.member(i);
}

// The body of a carrier.
void visit(void *argument) {
    auto &task = *static_cast<Task *>(argument);
    auto &team = *static_cast<Team *>(task.team);
    sched::Worker &worker = *sched::Worker::self();
    // A worker that looks for work does so in the slot where it was last: that may be the guest of
    // another task, which rests now and is gone before this one ends.
    Member &agent = agent_at(worker);
    worker.slot = &agent;
    Member guest;
    guest.team = &team;
    guest.group = agent.group;
    guest.index = kUnassignedThread;
    guest.placement = agent.placement;
    guest.control = agent.control;
    guest.implicit.team = &team;
    guest.implicit.tool = &guest.record;
    task::run_beyond_team(worker, guest, task);
    team.leave(); // it may be gone now
    g_busy.fetch_sub(1, std::memory_order_relaxed);
}

bool offer(sched::Worker &worker, Task &task) {
    Team *agents = g_agents.load(std::memory_order_acquire);
    if (!agents || ompt::on() || in_reduction(task) || !take_agent(*agents))
        return false;
    task.team->visit();
    task::submit_elsewhere(worker,
                           make_spawned(worker, *agents, {visit, &task, nullptr, nullptr, {}}));
    return true;
}

} // namespace

bool have_free_agents() {
    if (g_agents.load(std::memory_order_acquire))
        return true;
    g_making.lock();
    Team *agents = g_agents.load(std::memory_order_relaxed);
    if (!agents) {
        const long asked = config().free_agents;
        agents = make_serving_team(asked < 0 ? sched::processors() : static_cast<int>(asked));
        if (agents) {
            task::let_others_run(offer);
            g_agents.store(agents, std::memory_order_release);
        }
    }
    g_making.unlock();
    return agents != nullptr;
}

void free_agents_after_fork_in_child() {
    g_making.unlock(); // another thread of the parent may have held it
    g_agents.store(nullptr, std::memory_order_relaxed);
    g_busy.store(0, std::memory_order_relaxed);
}

} // namespace sennit::omp
