// SPDX-License-Identifier: Apache-2.0
// The teams construct on the host (OpenMP 5.2, 10.2): a league of initial teams, each with the
// regions that its thread starts. They run one after the other, or some at once.
#include "openmp/team/league.h"

#include "base/message.h"
#include "openmp/team/placement.h"
#include "openmp/team/region_events.h"
#include "openmp/team/team.h"
#include "tasks/sched/processors.h"

#include <algorithm>
#include <dlfcn.h>

namespace sennit::omp {
namespace {

struct LeagueRun {
    int teams;
    int thread_limit; // 0: as before
    int nthreads;     // of regions that do not say how many threads they want; 0: as before
    Body body;
    void *data;
    ompt::Region region;
};

// With a tool, the body of a league's team is a parallel region, as in LLVM's runtime. LLVM's tools
// look for that.
void run_told(sched::Worker &worker, const LeagueRun &run) {
    Member &encountering = member_of(worker);
    const Team &initial = *encountering.team;
    ompt::announce_team(encountering, run.region, __builtin_frame_address(0));
    Team &team = fork(worker, 1, run.body, run.data);
    team.level = initial.level;
    team.active_level = initial.active_level;
    Member &member = team.member(0);
    member.outside = true;
    run.body(member, run.data);
    join(worker);
    encountering.record.frame.enter = nullptr;
}

// A thread's share of the league.
void run_teams(Member &runner, void *data) {
    auto &run = *static_cast<LeagueRun *>(data);
    sched::Worker &worker = *sched::Worker::self();
    const bool alone = runner.team->kind != Team::Kind::league;
    const int runners = alone ? 1 : runner.team->size;
    const int index = alone ? 0 : runner.index;
    for (int rank = run.teams * index / runners; rank < run.teams * (index + 1) / runners; ++rank) {
        Member &member = begin_initial(worker, {run.teams, rank, &run.region}, run.body, run.data);
        if (run.thread_limit > 0)
            icvs_for_update(worker)->thread_limit = run.thread_limit;
        if (run.nthreads > 0 && worker.task->icvs->nthreads[0] > run.nthreads)
            icvs_for_update(worker)->nthreads[0] = run.nthreads;
        if (ompt::on())
            run_told(worker, run);
        else
            run.body(member, run.data);
        join(worker);
    }
}

// How many threads run a league at once.
int league_runners(sched::Worker &worker, int teams) {
    const Team &team = *member_of(worker).team;
    const Icvs &icvs = *worker.task->icvs;
    if (team.active_level > 0)
        return 1;
    const int most = league_icvs().threads > 0 ? league_icvs().threads : sched::processors();
    const int size = std::min(teams, most);
    return size > 1 && icvs.has_thread_limit() ? team.contention->reserve(size, icvs.thread_limit)
                                               : size;
}

} // namespace

void run_league(sched::Worker &worker, int teams, int thread_limit, bool at_once, Body body,
                void *data) {
    const LeagueIcvs &defaults = league_icvs();
    if (teams <= 0)
        teams = std::max(defaults.num_teams.load(std::memory_order_relaxed), 1);
    if (thread_limit <= 0)
        thread_limit = defaults.thread_limit.load(std::memory_order_relaxed);
    LeagueRun league{teams, thread_limit, 0, body, data, {}};
    if (ompt::on())
        ompt::league_begin(worker, league.region, teams);
    const int runners = at_once ? league_runners(worker, teams) : 1;
    if (runners > 1) {
        if (thread_limit <= 0)
            league.nthreads = std::max(sched::processors() / runners, 1);
        announce_proc_bind(static_cast<int>(defaults.bind));
        parallel(worker, runners, run_teams, &league, Team::Kind::league);
    } else {
        run_teams(member_of(worker), &league);
    }
    if (ompt::on())
        ompt::league_end(worker, league.region);
}

void require_device(int device) {
    if (global_icvs().target_offload == TargetOffload::mandatory && !is_host_device(device))
        fatal("OMP_TARGET_OFFLOAD=mandatory, but there is no device %d: Sennit runs target regions "
              "on the host; unset the variable to allow that",
              device);
}

void begin_target(sched::Worker &worker, int thread_limit, const Icvs *icvs) {
    begin_initial(worker, {}, nullptr, nullptr, icvs);
    if (thread_limit > 0)
        icvs_for_update(worker)->thread_limit = thread_limit;
}

void end_target(sched::Worker &worker) {
    join(worker);
}

void run_target(sched::Worker &worker, int thread_limit, Body body, void *data) {
    begin_target(worker, thread_limit, &global_icvs().initial);
    body(member_of(worker), data);
    end_target(worker);
}

void *offload_routine(const char *name) {
    void *landmark = dlsym(RTLD_DEFAULT, "__tgt_target_kernel");
    Dl_info library;
    if (!landmark || !dladdr(landmark, &library))
        return nullptr;
    void *handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return nullptr;
    void *routine = dlsym(handle, name);
    dlclose(handle); // it stays loaded: the program needs it
    return routine;
}

} // namespace sennit::omp
