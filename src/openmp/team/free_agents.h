// SPDX-License-Identifier: Apache-2.0
// Free agents (OpenMP 6.0, threadset(omp_pool)): threads of the pool that belong to no team of the
// program. They run explicit tasks whose creator allows it.
//
// The free agents are a team of their own. A task for them is wrapped in a task of that team, its
// carrier. While the carrier runs, the thread has a Member of the task's own team, which is none of
// that team's threads. So the task gets right answers to what it asks for, and its children inherit
// the right settings. For the scheduler the thread still belongs to the other team. So whatever the
// task makes ready goes to the task's own team.
//
// A task that finds all agents busy waits in the queue of its creator, as any task does, and its
// team in a list. An agent that has run a task goes on with such tasks of the same team, as long as
// there are processors, or as long as it has a core of the node (tasks/sched/sharing.h). When it
// leaves, or its task waits, it sees to it that one comes for a team of the list. When a region
// ends there may be a processor for one more; and a thread that is no worker cannot make a carrier.
// Then an idle agent is woken, which looks at the list itself.
#pragma once

#include "base/spin.h"
#include "openmp/team/team.h"

#include <atomic>

namespace sennit::omp {

// omp_get_thread_num() in a task that a free agent runs (OpenMP 6.0: omp_unassigned_thread).
inline constexpr int kUnassignedThread = -2;

inline bool is_free_agent(const sched::Slot &slot) {
    return slot.index == kUnassignedThread;
}

// Start the free agents if they do not exist yet. False: there are no threads for them.
bool have_free_agents();
void free_agents_after_fork_in_child();
// No agent or other guest is at work for the team, nor will one come: it has ended.
bool is_left_by_agents(Team &team);
// The region has ended, and with it the tasks of its team: idle agents come for other teams.
void call_agents_after(Team &ended);
// Of the agents' team, in Group::settle(). Is there a team that an idle agent may come for?
bool are_agents_called();
void answer_calls();
// SENNIT_THREADSET=pool: every task is for them, too.
void offer_all_tasks();

// Teams without a region. Their threads serve a queue of independent tasks: those that are spawned
// through sennit.h, and the carriers of free agents.

// A team like that. The first thread that needs it makes it; it lasts as long as the process.
class ServingTeam {
  public:
    explicit constexpr ServingTeam(bool of_agents) : of_agents_(of_agents) {}
    // Null: it was not needed yet.
    Team *now() const { return team_.load(std::memory_order_acquire); }
    // Its threads serve its queue; they are `size`, or fewer. Null: there are no threads for it.
    Team *now_or_make(int size);
    // Called in the child of fork(). The threads stayed in the parent.
    void after_fork_in_child();

  private:
    const bool of_agents_;
    std::atomic<Team *> team_{nullptr};
    SpinLock making_; // two threads would make two teams
};

// The team of one thread that is the parent of tasks spawned through sennit.h. It has no region. It
// has a worker of its own, which the first call starts. Null: that is impossible.
Team *commons();
// Make an independent task for such a team. The caller submits it.
Task &make_spawned(sched::Worker &worker, Team &team, const task::SpawnPayload &spawn);
// Called at the end of the program: tells a tool that the team's thread ends.
void close_commons();
void commons_after_fork_in_child();

} // namespace sennit::omp
