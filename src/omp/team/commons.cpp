// SPDX-License-Identifier: Apache-2.0
#include "omp/team/commons.h"

#include "omp/env/affinity.h"
#include "omp/env/icv.h"
#include "omp/team/region_events.h"
#include "omp/team/thread_events.h"

#include <new>

namespace sennit::omp {

namespace {

constinit ServingTeam g_commons;
constexpr std::int64_t kGoodbyeNs = 100'000'000;

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
    if (!sched::Worker::start(commons_thread, &team->member(0))) {
        drop_team(team);
        return nullptr;
    }
    for (int i = 1; i < size; ++i)
        if (!sched::Worker::start(commons_thread, &team->member(i)))
            break; // fewer will do
    return team;
}

} // namespace

Team *ServingTeam::now_or_make(int size) {
    if (Team *team = now())
        return team;
    making_.lock();
    Team *team = team_.load(std::memory_order_relaxed);
    if (!team) {
        team = make_serving_team(size);
        team_.store(team, std::memory_order_release);
    }
    making_.unlock();
    return team;
}

void ServingTeam::after_fork_in_child() {
    making_.unlock(); // another thread of the parent may have held it
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
        futex_wait(team->at_home, 0, kGoodbyeNs);
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
