// SPDX-License-Identifier: Apache-2.0
#include "omp/team/free_agents.h"
#include "omp/team/commons.h"

#include "base/config.h"
#include "sched/processors.h"

#include <atomic>

namespace sennit::omp {
namespace {

// The agents' team, and how much it has to do.
class FreeAgents {
  public:
    ServingTeam team;

    // Only as many tasks as there are agents: the team's own threads take the others.
    bool take_one(const Team &agents) {
        int busy = busy_.load(std::memory_order_relaxed);
        do
            if (busy >= agents.size)
                return false;
        while (!busy_.compare_exchange_weak(busy, busy + 1, std::memory_order_relaxed));
        return true;
    }
    void give_back() { busy_.fetch_sub(1, std::memory_order_relaxed); }
    void after_fork_in_child() {
        team.after_fork_in_child();
        busy_.store(0, std::memory_order_relaxed);
    }

  private:
    std::atomic<int> busy_{0}; // tasks that agents have been given and have not ended
};
constinit FreeAgents g_agents;

bool in_reduction(const Task &task) {
    for (const Taskgroup *group = task.taskgroup; group; group = group->outer)
        if (group->reductions)
            return true; // a private copy belongs to a thread of the team
    return false;
}

Member &agent_at(const sched::Worker &worker) {
    Team &agents = *g_agents.team.now();
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
    // A worker that looks for work does so in the slot where it was last. That may be the guest of
    // another task, which rests now, and is gone before this task ends.
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
    g_agents.give_back();
}

bool offer(sched::Worker &worker, Task &task) {
    Team *agents = g_agents.team.now();
    if (!agents || ompt::on() || in_reduction(task) || !g_agents.take_one(*agents))
        return false;
    task.team->visit();
    task::submit_elsewhere(worker,
                           make_spawned(worker, *agents, {visit, &task, nullptr, nullptr, {}}));
    return true;
}

} // namespace

bool have_free_agents() {
    if (g_agents.team.now())
        return true;
    const long asked = config().free_agents;
    if (!g_agents.team.now_or_make(asked < 0 ? sched::processors() : static_cast<int>(asked)))
        return false;
    task::let_others_run(offer);
    return true;
}

void free_agents_after_fork_in_child() {
    g_agents.after_fork_in_child();
}

} // namespace sennit::omp
