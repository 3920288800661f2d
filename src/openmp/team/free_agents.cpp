// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/free_agents.h"

#include "base/config.h"
#include "openmp/env/affinity.h"
#include "openmp/env/icv.h"
#include "openmp/team/region_events.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/threads.h"
#include "tasks/task/roaming.h"
#include "wait/rows.h"

#include <atomic>
#include <new>
#include <utility>

namespace sennit::omp {
namespace {

// The agents' team, and how much it has to do.
class FreeAgents {
  public:
    ServingTeam team;

    // Only as many tasks as there are agents: the others wait in the queues of the team's threads.
    bool take_one(const Team &agents) {
        int busy = busy_.load(std::memory_order_relaxed);
        do
            if (busy >= agents.workers)
                return false;
        while (!busy_.compare_exchange_weak(busy, busy + 1, std::memory_order_relaxed));
        return true;
    }
    // Agents and the threads of regions are no more than the processors, also with one more. Where
    // processes share the cores, it will have to get one.
    bool room_for_one() const {
        return sched::shares_cores() ||
               sched::processors_for(active_threads() + busy_.load(std::memory_order_relaxed) + 1);
    }
    void give_back() { busy_.fetch_sub(1, std::memory_order_relaxed); }
    // Agents that go on are no more than there are processors beside the teams' threads. False: the
    // caller is one too many, and has given back.
    bool may_go_on() {
        int busy = busy_.load(std::memory_order_relaxed);
        while (!sched::processors_for(active_threads() + busy))
            if (busy_.compare_exchange_weak(busy, busy - 1, std::memory_order_relaxed))
                return false;
        return true;
    }
    void after_fork_in_child() {
        team.after_fork_in_child();
        busy_.store(0, std::memory_order_relaxed);
    }

  private:
    std::atomic<int> busy_{0}; // agents that run tasks, or have been given one
};
constinit FreeAgents g_agents;

void visit(void *argument);

Member &agent_at(const sched::Worker &worker) {
    Team &agents = *g_agents.team.now();
    int i = 0;
    while (agents.member(i).worker.load(std::memory_order_relaxed) != &worker)
        ++i;
    return agents.member(i);
}

// A task of the team that any agent may run, and that accept() likes, from the queues of the team's
// threads: if it is the one that they would run next. Where a policy orders them, a queue is that
// of a NUMA domain, the agent's own first.
template <class Accept>
Task *take_offered(const sched::Group &team, int near, Accept accept) {
    if (!team.has_tasks.load(std::memory_order_relaxed))
        return nullptr;
    const auto is_offered = [&](const sched::Item *item) {
        return static_cast<const Task *>(item)->is(Task::kOffered) && accept(item);
    };
    if (sched::ordered()) {
        const int domains = sched::machine().domains;
        for (int i = 0; i < domains; ++i)
            if (sched::Item *const item = team.queues[(near + i) % domains].take_if(is_offered))
                return static_cast<Task *>(item);
        return nullptr;
    }
    for (int i = 0; i < team.size; ++i)
        if (sched::Item *const item =
                team.slots[i]->queue.steal_if(sched::ReadyQueue::End::back, is_offered))
            return static_cast<Task *>(item);
    return nullptr;
}

Task *take_offered(const sched::Group &team, int near) {
    return take_offered(team, near, [](const sched::Item *) { return true; });
}

// The agent has a carrier for the task to run, and visits the team.
void invite(sched::Worker &worker, Team &agents, Task &task) {
    task::submit_elsewhere(worker,
                           make_spawned(worker, agents, {visit, &task, nullptr, nullptr, {}}));
}

// `task`, if it is not null, and others of the team.
void run_tasks_of(Team &team, Task *task) {
    sched::Worker &worker = *sched::Worker::self();
    // A worker that looks for work does so in the slot where it was last. That may be the guest of
    // another task, which rests now, and is gone before this task ends.
    Member &agent = agent_at(worker);
    worker.slot = &agent;
    Member guest;
    guest.team = &team;
    guest.group = agent.group;
    guest.move_in_with(agent);
    guest.index = kUnassignedThread;
    guest.placement = agent.placement;
    guest.control = agent.control;
    guest.implicit.team = &team;
    guest.implicit.tool = &guest.record;
    const int near = agent.near_domain();
    bool stays = true;
    while (task || (stays && (task = take_offered(team, near)))) {
        fiber::set_fp_control(agent.control);
        task::run_beyond_team(worker, guest, *std::exchange(task, nullptr));
        if (sched::shares_cores())
            stays = worker.seat.has_core() && !worker.seat.is_to_leave();
        else if (!g_agents.may_go_on())
            return team.leave();
    }
    // Where its core is wanted, it comes back with another one. The team may be gone after leave().
    if (!stays && worker.seat.has_core() && (task = take_offered(team, near)))
        return invite(worker, *agent.team, *task);
    team.leave();
    g_agents.give_back();
}

// The body of a carrier that was given a task, and of one that was not.
void visit(void *argument) {
    auto *task = static_cast<Task *>(argument);
    run_tasks_of(*static_cast<Team *>(task->team), task);
}
void look_in(void *argument) {
    run_tasks_of(*static_cast<Team *>(argument), nullptr);
}

// A visit is counted in the team before the task is in a queue: until then the task keeps the team,
// from then on the visit does, up to leave(). A visit that finds no task leaves.
// Nobody waits for an agent. A task for which none is idle is in its team's queue as any other, and
// its push has woken a thread of the team. A visit that goes on may find it, too.
// A task that is suspended on an agent keeps its carrier's fiber and so `guest` in it. The carrier
// is tied to the agent: the task is resumed there, and the agent counts as busy until it ends. Only
// parts of an untied task that the compiler cut go back to the team's queue.
class Agents : public task::Others {
  public:
    bool may_run(const Task &fresh) override {
        // Where untied tasks may go on on any thread of their team, they stay in it.
        const bool roams = fresh.is(Task::kUntied) && config().untied == UntiedTasks::anywhere;
        return have_free_agents() && !ompt::on() && !roams && !task::roaming::has_reductions(fresh);
    }
    bool take(sched::Worker &worker, Task &fresh) override {
        if (!may_visit(*fresh.team))
            return false;
        invite(worker, *g_agents.team.now(), fresh);
        return true;
    }
    // Where the program itself offers tasks, it may count on an agent.
    bool may_visit(sched::Group &team) override {
        const bool asked = config().threadset == Threadset::team;
        return (asked || g_agents.room_for_one()) && comes(team);
    }
    void start_visit(sched::Worker &worker, sched::Group &team) override {
        task::submit_elsewhere(
            worker, make_spawned(worker, *g_agents.team.now(),
                                 {look_in, static_cast<Team *>(&team), nullptr, nullptr, {}}));
    }
    // On the stack of the task that waits, as a thread of the team does with its own queue.
    bool help(sched::Worker &worker, sched::Condition &condition) override {
        sched::Slot &guest = *worker.slot;
        const auto accept = [&](const sched::Item *item) { return condition.accepts(item); };
        Task *const task = take_offered(*worker.task->team, guest.home()->near_domain(), accept);
        if (task)
            task::run_beyond_team(worker, guest, *task);
        return task != nullptr;
    }

  private:
    static bool comes(sched::Group &team) {
        const Team *const agents = g_agents.team.now();
        if (!agents || !g_agents.take_one(*agents))
            return false;
        team.visit();
        return true;
    }
};
constinit Agents g_others;

} // namespace

bool have_free_agents() {
    if (g_agents.team.now())
        return true;
    const long asked = config().free_agents;
    if (!g_agents.team.now_or_make(asked < 0 ? sched::processors() : static_cast<int>(asked)))
        return false;
    task::let_others_run(g_others);
    return true;
}

void offer_all_tasks() {
    task::offer_all_tasks();
    task::let_others_run(g_others); // they come with the first task
}

void free_agents_after_fork_in_child() {
    g_agents.after_fork_in_child();
}

namespace {

constinit ServingTeam g_commons;

void commons_thread(void *argument) {
    auto &member = *static_cast<Member *>(argument);
    Team &team = *member.team;
    sched::Worker &worker = *sched::Worker::self();
    leave_places();
    fiber::set_fp_control(team.control);
    worker.enter(member);
    worker.slot = &member;
    worker.task = &member.implicit;
    if (ompt::on()) {
        ompt::worker_begin();
        ompt::initial_task_begin(member);
    }
    // The gate opens at the end of the program. Even then the thread goes on serving the queue.
    for (std::uint32_t seen = 0;; seen = team.fork.epoch()) {
        pass(worker, member, team.fork, seen);
        if (ompt::on()) {
            ompt::implicit_task_end(member, team.kind);
            ompt::worker_end();
        }
        team.at_home.store(1, std::memory_order_release);
        futex_wake(team.at_home);
    }
}

// Null: there are no threads for it.
Team *make_serving_team(int size) {
    if (size < 1)
        return nullptr;
    Team *team = make_team(size);
    team->icvs = &global_icvs().initial;
    team->contention = &team->own_contention;
    team->note_tasks();
    team->kind = Team::Kind::initial;
    Task &parent = team->member(0).implicit;
    parent.flags = Task::kInitial;
    parent.icvs = team->icvs;
    parent.folded.store(true, std::memory_order_relaxed);
    if (!sched::start_thread(commons_thread, &team->member(0))) {
        drop_team(team);
        return nullptr;
    }
    for (int i = 1; i < size; ++i)
        if (!sched::start_thread(commons_thread, &team->member(i))) {
            team->workers = i; // fewer will do
            break;
        }
    return team;
}

} // namespace

Team *ServingTeam::now_or_make(int size) {
    if (Team *team = now())
        return team;
    const Guard guard(making_);
    Team *team = team_.load(std::memory_order_relaxed);
    if (!team) {
        team = make_serving_team(size);
        team_.store(team, std::memory_order_release);
    }
    return team;
}

void ServingTeam::after_fork_in_child() {
    making_.after_fork_in_child();
    team_.store(nullptr, std::memory_order_relaxed);
}

Team *commons() {
    return g_commons.now_or_make(1);
}

void commons_after_fork_in_child() {
    g_commons.after_fork_in_child();
}

void close_commons() {
    Team *team = g_commons.now();
    if (!team)
        return;
    team->fork.open(*team);
    // A task that never lets go of the thread does not keep the program from ending.
    if (team->at_home.load(std::memory_order_acquire) == 0)
        futex_wait(team->at_home, 0, wait::kLastThread.naps.longest_ns);
}

Task &make_spawned(sched::Worker &worker, Team &team, const task::SpawnPayload &spawn) {
    Task &task = *task::allocate(worker, sizeof(task::SpawnPayload));
    new (task.payload()) task::SpawnPayload(spawn);
    task.invoke = [](Task &self) {
        const auto &payload = *static_cast<const task::SpawnPayload *>(self.payload());
        payload.body(payload.arg);
    };
    task.entry = reinterpret_cast<void *>(spawn.body);
    task.parent = &team.member(0).implicit;
    task.team = &team;
    task.icvs = team.icvs;
    task.flags = Task::kSpawned;
    return task;
}

} // namespace sennit::omp
