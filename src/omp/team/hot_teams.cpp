// SPDX-License-Identifier: Apache-2.0
#include "omp/team/hot_teams.h"
#include "omp/team/implicit_task.h"

#include "base/message.h"
#include "omp/team/part_trace.h"
#include "omp/team/placement.h"
#include "omp/team/region_events.h"
#include "omp/team/thread_events.h"
#include "omp/team/virtual_team.h"
#include "task/accounts.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sched.h>

namespace sennit::omp {
namespace {

constexpr int kMostCachedTeams = 4;

} // namespace

Home &home_of(sched::Worker &worker) {
    if (SENNIT_UNLIKELY(!worker.room)) {
        void *memory = std::malloc(sizeof(Home));
        if (!memory)
            fatal("no memory for the teams of a thread (%zu bytes)", sizeof(Home));
        worker.room = new (memory) Home;
    }
    return *static_cast<Home *>(worker.room);
}

namespace {

SENNIT_COLD void begin_observed_part(sched::Worker &worker, Member &member) {
    const Team &team = *member.team;
    begin_traced_part(team);
    if (observed::by(observed::kAccounts))
        task::begin_implicit_work(worker, member.implicit, *team.encountering_task);
}

SENNIT_COLD void end_observed_part(sched::Worker &worker, Member &member) {
    if (observed::by(observed::kAccounts))
        task::end_implicit_work(worker, member.implicit);
    end_traced_part(*member.team);
}

void docked_thread(void *argument) {
    auto &member = *static_cast<Member *>(argument);
    Team &team = *member.team;
    sched::Worker &worker = *sched::Worker::self();
    fiber::set_fp_control(team.control);
    worker.enter(member);
    member.dock(team.fork.word());
    worker.slot = &member;
    if (ompt::on())
        ompt::worker_begin();
    for (;;) {
        worker.task = &member.implicit;
        pass(worker, member, team.fork, member.regions_seen);
        member.undock();
        if (team.disband)
            break;
        if (SENNIT_UNLIKELY(team.threads != nullptr))
            team.threads->begin_part(worker, team, member);
        start_implicit(worker, member);
        if (observed::by(observed::kTrace | observed::kAccounts))
            begin_observed_part(worker, member);
        if (ompt::on())
            ompt::implicit_task_begin(member);
        team.body(member, team.data);
        task::retire_implicit(worker, member.implicit);
        const int ended = SENNIT_UNLIKELY(team.threads != nullptr)
                              ? 1 + team.threads->run_others(worker, team, member)
                              : 1;
        if (observed::by(observed::kTrace | observed::kAccounts))
            end_observed_part(worker, member);
        // From here on the thread only helps with what is left of the region.
        member.dock(team.fork.word());
        if (ompt::on()) {
            const Team::Kind kind = team.kind;
            ompt::implicit_task_leaves(member);
            const std::uint32_t seen = team.barrier.epoch();
            arrive(team, Team::kJoin);
            pass(worker, member, team.barrier, seen);
            ompt::implicit_task_end(member, kind);
        } else {
            arrive(team, Team::kJoin, ended);
        }
    }
    if (ompt::on()) {
        disband_idle_teams(worker);
        ompt::worker_end();
    }
    worker.leave(member);
    worker.task = nullptr;
    worker.slot = nullptr;
    worker.join_pool();
    // This comes last: the team may be gone after it.
    team.at_home.fetch_add(1, std::memory_order_release);
    futex_wake(team.at_home);
}

void disband(Team *team) {
    team->disband = true;
    team->fork.open(*team);
    const auto others = static_cast<std::uint32_t>(team->workers - 1);
    for (std::uint32_t home; (home = team->at_home.load(std::memory_order_acquire)) != others;)
        futex_wait(team->at_home, home);
    while (team->visitors.load(std::memory_order_acquire) != 0)
        sched_yield(); // one is about to leave
    VirtualTeam::drop(team->threads);
    drop_team(team);
}

// Free the threads of teams that are not in use. False: there are none.
bool disband_unused(Home &home) {
    bool any = false;
    for (Team **at = &home.cached; *at;) {
        Team *team = *at;
        if (team->in_use || team->workers == 1) {
            at = &team->next_cached;
            continue;
        }
        *at = team->next_cached;
        disband(team);
        any = true;
    }
    return any;
}

// A team on up to `workers` of them, ready to fork: its threads begin with its first region.
// `size`: of so many threads. 0: of as many as it has workers, if that is more than one each.
Team *assemble(Home &home, int size, int workers) {
    Team *team = make_team(std::max(size, workers), workers);
    if (workers < size)
        team->threads = VirtualTeam::make(*team);
    if (workers > 1)
        team->fork.note_recruits();
    for (int i = 1; i < workers; ++i) {
        Member &member = team->member(VirtualTeam::first_of(i, *team));
        if (team->recruits.add(docked_thread, &member))
            continue;
        if (disband_unused(home)) {
            --i;
            continue;
        }
        // There are not so many threads. Those that came have seen the size: begin anew with fewer.
        for (int missing = i; missing < workers; ++missing)
            team->at_home.fetch_add(1, std::memory_order_relaxed);
        disband(team);
        return assemble(home, size, i);
    }
    return team;
}

} // namespace

Team &find_team(sched::Worker &worker, int key, int level) {
    Home &home = home_of(worker);
    int unused = 0;
    Team **oldest = nullptr;
    Team **fitting = nullptr;
    for (Team **at = &home.cached; *at; at = &(*at)->next_cached) {
        Team *team = *at;
        if (team->in_use)
            continue;
        // A team of this level is better. Its threads are where they belong, and have the teams
        // that they need for the next level.
        if (team->asked == key && (!fitting || team->level == level)) {
            fitting = at;
            if (team->level == level)
                break;
        }
        ++unused;
        oldest = at;
    }
    if (fitting) {
        Team *team = *fitting;
        *fitting = team->next_cached;
        team->next_cached = home.cached;
        home.cached = team;
        return *team;
    }
    if (unused >= kMostCachedTeams) {
        Team *team = *oldest;
        *oldest = team->next_cached;
        disband(team);
    }
    Team *team = key < 0 ? assemble(home, -key, split_workers()) : assemble(home, 0, key);
    team->asked = key;
    team->kept_values = &home.values;
    team->next_cached = home.cached;
    home.cached = team;
    return *team;
}

void disband_idle_teams(sched::Worker &worker) {
    for (Team **at = &home_of(worker).cached; *at;) {
        Team *team = *at;
        if (team->in_use) {
            at = &team->next_cached;
            continue;
        }
        *at = team->next_cached;
        disband(team);
    }
}

void release_threads(sched::Worker &worker) {
    disband_idle_teams(worker);
    sched::Worker::retire_threads();
}

} // namespace sennit::omp
