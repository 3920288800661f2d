// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/free_agents.h"

#include "base/config.h"
#include "base/fence.h"
#include "openmp/env/affinity.h"
#include "openmp/env/icv.h"
#include "openmp/env/split.h"
#include "openmp/team/region_events.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/threads.h"
#include "tasks/task/others.h"
#include "tasks/task/roaming.h"
#include "wait/rows.h"

#include <atomic>
#include <new>
#include <utility>

namespace sennit::omp {
namespace {

// The agents' team, how much it has to do, and who waits for an agent.
//
// Invariant: while a team waits, all agents are busy, or there is no room for one more, or somebody
// is about to call next_for(). For who puts it there does so, and calls next_for(); an agent counts
// itself out, and looks whether a team waits. Both are seq_cst: one of them sees the other. A
// region that ends makes room, and looks, too. It wakes an idle agent, as does a thread that is no
// worker and has put a team there: that agent calls next_for(), and does not fall asleep while
// is_called().
class FreeAgents {
  public:
    ServingTeam team{true};

    // Only as many tasks as there are agents: the others wait in the queues of the team's threads.
    bool take_one(const Team &agents) {
        int busy = busy_.load(std::memory_order_seq_cst);
        do
            if (busy >= agents.workers)
                return false;
        while (!busy_.compare_exchange_weak(busy, busy + 1, std::memory_order_relaxed));
        return true;
    }
    bool all_busy(const Team &agents) const {
        return busy_.load(std::memory_order_seq_cst) >= agents.workers;
    }
    // Agents and the threads of regions are no more than the processors, also with one more. Where
    // processes share the cores, it will have to get one.
    bool room_for_one() const {
        return sched::shares_cores() ||
               sched::processors_for(active_threads() + busy_.load(std::memory_order_seq_cst) + 1);
    }
    void give_back() { busy_.fetch_sub(1, std::memory_order_seq_cst); }
    // A task that has waited on an agent goes on there, also where all are busy.
    void go_on() { busy_.fetch_add(1, std::memory_order_relaxed); }
    // Agents that go on are no more than there are processors beside the teams' threads. False: the
    // caller is one too many, and has given back.
    bool may_go_on() {
        int busy = busy_.load(std::memory_order_relaxed);
        while (!sched::processors_for(active_threads() + busy))
            if (busy_.compare_exchange_weak(busy, busy - 1, std::memory_order_seq_cst,
                                            std::memory_order_relaxed))
                return false;
        return true;
    }

    // A task has joined a queue of the team, and no agent comes. The push has fenced lightly since;
    // who takes the team from the list fences heavily before it looks at the queues.
    void await(Team &waiting, AwaitsAgent how) {
        fence_light();
        if (waiting.awaits_agent.load(std::memory_order_relaxed) >= how)
            return;
        const Guard guard(lock_);
        const AwaitsAgent before = waiting.awaits_agent.load(std::memory_order_relaxed);
        if (before >= how)
            return;
        waiting.awaits_agent.store(how, std::memory_order_relaxed);
        if (before == AwaitsAgent::no) {
            waiting.next_awaiting = first_;
            std::atomic_thread_fence(std::memory_order_release); // fork() may come in between
            first_ = &waiting;
            awaited_.fetch_add(1, std::memory_order_seq_cst);
        }
        if (how == AwaitsAgent::surely)
            awaited_surely_.fetch_add(1, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with that in has_room_for()
    }
    bool anybody_waits() const { return awaited_.load(std::memory_order_seq_cst) != 0; }
    // Would next_for() find a team now?
    bool is_called(const Team &agents) const {
        return anybody_waits() && !all_busy(agents) &&
               (awaited_surely_.load(std::memory_order_seq_cst) != 0 || room_for_one());
    }
    // The team that has waited longest of those that an agent may come for, as its visitor: one is
    // counted. Null: there is none, or no agent.
    Team *next_for(const Team &agents) {
        const Guard guard(lock_);
        const bool room = room_for_one();
        Team **found = nullptr;
        for (Team **at = &first_; *at; at = &(*at)->next_awaiting)
            if (room || (*at)->awaits_agent.load(std::memory_order_relaxed) == AwaitsAgent::surely)
                found = at;
        if (!found || !take_one(agents))
            return nullptr;
        Team *const taken = *found;
        taken->visit();
        unlist(found);
        return taken;
    }
    // The team has ended: its tasks have, too. Under the lock: nobody visits it from the list
    // meanwhile, and who would put it there is a visitor.
    bool is_left(Team &ended) {
        const Guard guard(lock_);
        forget(ended);
        return ended.visitors.load(std::memory_order_acquire) == 0;
    }
    // A region has ended. Either we see who is listed, or who lists one sees the processor.
    bool has_room_for(Team &ended, const Team &agents) {
        if (ended.awaits_agent.load(std::memory_order_relaxed) != AwaitsAgent::no) {
            const Guard guard(lock_);
            forget(ended);
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return is_called(agents);
    }

    void after_fork_in_child() {
        team.after_fork_in_child();
        busy_.store(0, std::memory_order_relaxed);
        lock_.after_fork_in_child();
        const Guard guard(lock_);
        while (first_)
            unlist(&first_);
        awaited_.store(0, std::memory_order_relaxed);
        awaited_surely_.store(0, std::memory_order_relaxed);
    }

  private:
    void forget(const Team &ended) SENNIT_REQUIRES(lock_) {
        for (Team **at = &first_; *at; at = &(*at)->next_awaiting)
            if (*at == &ended)
                return unlist(at);
    }
    void unlist(Team **at) SENNIT_REQUIRES(lock_) {
        Team &taken = **at;
        *at = taken.next_awaiting;
        if (taken.awaits_agent.load(std::memory_order_relaxed) == AwaitsAgent::surely)
            awaited_surely_.fetch_sub(1, std::memory_order_relaxed);
        taken.awaits_agent.store(AwaitsAgent::no, std::memory_order_relaxed);
        awaited_.fetch_sub(1, std::memory_order_relaxed);
    }

    std::atomic<int> busy_{0};           // agents that run tasks, or have been given one
    std::atomic<int> awaited_{0};        // teams of the list
    std::atomic<int> awaited_surely_{0}; // of them, for which an agent comes in any case
    SpinLock lock_;
    Team *
        first_ SENNIT_GUARDED_BY(lock_) = nullptr; // teams that wait, the last one that came first
};
constinit FreeAgents g_agents;

void visit(void *argument);
void look_in(void *argument);

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

// The visit is counted, in the team and among the agents.
void send_to(sched::Worker &worker, Team &agents, Team &team) {
    task::submit_elsewhere(worker,
                           make_spawned(worker, agents, {look_in, &team, nullptr, nullptr, {}}));
}

// Called when there is an agent more that could come, and when a team has begun to wait for one.
void send_to_awaiting(sched::Worker &worker) {
    Team *const agents = g_agents.team.now();
    // Null: in a child of fork(), on its agent.
    while (agents && g_agents.anybody_waits() && !g_agents.all_busy(*agents)) {
        Team *const team = g_agents.next_for(*agents);
        if (!team)
            return;
        fence_heavy(); // see await()
        send_to(worker, *agents, *team);
    }
}

// Where the program itself offers tasks, it may count on an agent.
bool is_asked() {
    return config().threadset == Threadset::team;
}

// The team has tasks that nobody comes for. A thread that is no worker has no memory for a carrier:
// an agent that is idle makes its own, in answer_calls().
void call_agent(sched::Worker *worker, Team &team) {
    g_agents.await(team, is_asked() ? AwaitsAgent::surely : AwaitsAgent::with_room);
    if (worker)
        return send_to_awaiting(*worker);
    if (Team *const agents = g_agents.team.now(); agents && g_agents.is_called(*agents))
        sched::announce_work(*agents);
}
// It has more of them than the agent that is here runs.
void call_for_more(sched::Worker &worker, Team &team) {
    if (team.any_ready())
        call_agent(&worker, team);
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
        call_for_more(worker, team); // an agent that comes calls the next one
        task::run_beyond_team(worker, guest, *std::exchange(task, nullptr));
        if (sched::shares_cores())
            stays = worker.seat.has_core() && !worker.seat.is_to_leave();
        else if (!g_agents.may_go_on()) {
            call_for_more(worker, team);
            team.leave();
            return send_to_awaiting(worker);
        }
    }
    // Where its core is wanted, it comes back with another one. The team may be gone after leave().
    if (!stays && worker.seat.has_core() && (task = take_offered(team, near)))
        return invite(worker, *agent.team, *task);
    g_agents.give_back();
    if (!stays)
        call_for_more(worker, team);
    team.leave();
    send_to_awaiting(worker);
}

// The body of a carrier that was given a task, and of one that was not.
void visit(void *argument) {
    auto *task = static_cast<Task *>(argument);
    run_tasks_of(*static_cast<Team *>(task->team), task);
}
void look_in(void *argument) {
    run_tasks_of(*static_cast<Team *>(argument), nullptr);
}

// A visit keeps the team up to leave(). One that finds no task leaves; one that goes on may find
// what others were told of.
// Nobody relies on an agent. A task for which none is idle is in its team's queue as any other, and
// its push has woken a thread of the team.
// A task that is suspended on an agent keeps its carrier's fiber and so `guest` in it. The carrier
// is tied to the agent: the task is resumed there. While it waits the agent does not count as busy.
// Only parts of an untied task that the compiler cut go back to the team's queue.
class Agents : public task::Others {
  public:
    bool may_run(const Task &fresh) override {
        // Where untied tasks may go on on any thread of their team, they stay in it.
        const bool roams = fresh.is(Task::kUntied) && config().untied == UntiedTasks::anywhere;
        return have_free_agents() && !ompt::on() && !roams && !task::roaming::has_reductions(fresh);
    }
    bool take(sched::Worker &worker, Task &fresh) override {
        Team &agents = *g_agents.team.now();
        if (!one_comes(agents))
            return false;
        fresh.team->visit(); // before it has the task: until then its creator's task keeps the team
        invite(worker, agents, fresh);
        return true;
    }
    void tell(sched::Worker *worker, sched::Group &group) override {
        Team *const agents = g_agents.team.now();
        auto &team = static_cast<Team &>(group);
        if (!agents) // of a task that was made before fork(), say
            return;
        if (worker && one_comes(*agents)) {
            team.visit();
            return send_to(*worker, *agents, team);
        }
        call_agent(worker, team);
    }
    void need(sched::Worker &worker, sched::Group &group) override {
        if (!g_agents.team.now())
            return;
        g_agents.await(static_cast<Team &>(group), AwaitsAgent::surely);
        send_to_awaiting(worker);
    }
    // The task that a carrier has goes to its team's queue: who waits for it runs it, if nobody
    // else does. The carrier is for any task of the team then, as its visit has been.
    void let_go(Task &task) override {
        if (!task.is(Task::kSpawned))
            return;
        auto &spawn = *static_cast<task::SpawnPayload *>(task.payload());
        if (spawn.body != visit)
            return;
        auto &carried = *static_cast<Task *>(spawn.arg);
        spawn.body = look_in;
        spawn.arg = static_cast<Team *>(carried.team);
        SENNIT_ASSERT(carried.state.is(TaskState::ready) || carried.state.step(TaskState::ready));
        sched::push_foreign(*carried.team, &carried);
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

    // A guest's task has its own place on the agent's stack.
    void waits(sched::Worker &worker, bool begins) override {
        if (!is_free_agent(*worker.slot))
            return;
        if (!begins)
            return g_agents.go_on();
        g_agents.give_back();
        send_to_awaiting(worker);
    }

  private:
    static bool one_comes(const Team &agents) {
        return (is_asked() || g_agents.room_for_one()) && g_agents.take_one(agents);
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
    let_regions_differ();
    task::let_others_run(g_others);
    return true;
}

void call_agents_after(Team &ended) {
    Team *const agents = g_agents.team.now();
    if (agents && g_agents.has_room_for(ended, *agents))
        sched::announce_work(*agents);
}

bool are_agents_called() {
    const Team *const agents = g_agents.team.now();
    return agents && g_agents.is_called(*agents);
}

void answer_calls() {
    send_to_awaiting(*sched::Worker::self());
}

void offer_all_tasks() {
    task::offer_all_tasks();
    task::let_others_run(g_others); // they come with the first task
}

void free_agents_after_fork_in_child() {
    g_agents.after_fork_in_child();
}

bool is_left_by_agents(Team &team) {
    return g_agents.team.now() ? g_agents.is_left(team)
                               : team.visitors.load(std::memory_order_acquire) == 0;
}

namespace {

constinit ServingTeam g_commons{false};

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
Team *make_serving_team(int size, bool of_agents) {
    if (size < 1)
        return nullptr;
    Team *team = make_team(size);
    team->icvs = &global_icvs().initial;
    team->contention = &team->own_contention;
    team->note_tasks();
    team->kind = Team::Kind::initial;
    team->of_agents = of_agents;
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
        team = make_serving_team(size, of_agents_);
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
