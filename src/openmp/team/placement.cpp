// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/placement.h"

#include "base/message.h"
#include "base/spin.h"
#include "openmp/env/affinity.h"
#include "openmp/env/display.h"
#include "openmp/env/environment.h"
#include "openmp/env/split.h"
#include "openmp/team/team.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>
#include <utility>

namespace sennit::omp {
namespace {

SENNIT_TLS ProcBind t_clause = ProcBind::false_; // of the next region, false_: none

// What was displayed of the thread's last region. The rest changes with the placement.
struct Shown {
    int level = -1;
    int size = 0;
    bool operator==(const Shown &) const = default;
};
SENNIT_TLS Shown t_shown;

// The processors that the calling thread may run on, as %A shows them.
CpuSet processors_of_thread(const Member &member) {
    const int place = member.placement.place;
    return place >= 0 ? place_list()[place] : processors_of_caller();
}

} // namespace

void announce_proc_bind_slow(int policy) {
    t_clause = static_cast<ProcBind>(policy);
}

void place_team_slow(Team &team, Member &encountering) {
    const ProcBind clause = std::exchange(t_clause, ProcBind::false_);
    TeamPlacement next;
    if (bind_list().on()) {
        // A thread that the program has made takes its place when it first needs one.
        if (encountering.placement.place < 0)
            encountering.placement = {0, 0, place_list().count()};
        next.policy =
            clause != ProcBind::false_ ? clause : bind_list().at(encountering.team->level);
        next.parent = encountering.placement;
    }
    next.level = team.level;
    next.parent_thread = encountering.index;
    team.placement.changed = false;
    if (team.placement == next)
        return;
    team.placement = next;
    team.placement.changed = true;
}

void enter_place_slow(Member &member) {
    if (member.visits)
        return;
    const Team &team = *member.team;
    bind_as_bound(member);
    if (!member.is_at_home()) { // one of several on its worker, which has its place
        member.placement = static_cast<Member *>(member.home())->placement;
        return;
    }
    if (!team.outer) {
        member.placement = {bound_place(), 0, place_list().count()};
        return;
    }
    const bool changed = team.placement.changed;
    if (bind_list().on()) {
        if (changed)
            member.placement =
                assign_place(team.placement.policy, team.placement.parent, team.size, member.index);
        // A team may outlive a thread of the program that started it. So look at this thread.
        const int place = member.placement.place;
        bind_to_place(place);
        if (const int domain = domain_of_place(place); domain >= 0)
            member.set_domain(domain);
    }
    if (!display_affinity() || team.kind == Team::Kind::league)
        return;
    const Shown now{team.level, team.size};
    if (std::exchange(t_shown, now) != now || changed)
        print_affinity(nullptr);
}

void leave_region_slow(const Member &member) {
    if (bound_in_regions_only() && !member.team->outer)
        leave_places();
}

std::size_t capture_affinity(char *buffer, std::size_t size, const char *format) {
    sched::Worker &worker = here();
    const Member &member = member_of(worker);
    const Team &team = *member.team;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const CpuSet processors = processors_of_thread(member);
    const AffinityFields fields{team.league.rank,
                                team.league.size,
                                team.level,
                                member.index,
                                team.size,
                                team.encountering ? team.encountering->index : -1,
                                host,
                                getpid(),
                                gettid(),
                                &processors};
    char usual[kMostAffinityFormat];
    if (!format || !*format) {
        copy_affinity_format(usual);
        format = usual;
    }
    Text text(buffer, size);
    put_affinity(text, format, fields);
    return text.length();
}

void print_affinity(const char *format) {
    const std::size_t length = capture_affinity(nullptr, 0, format);
    auto *const line = static_cast<char *>(std::malloc(length + 2));
    if (!line)
        fatal("no memory for %zu characters of affinity information", length);
    capture_affinity(line, length + 1, format);
    const std::size_t used = std::strlen(line);
    line[used] = '\n';
    std::FILE *const where = stands_for_libomp() ? stdout : stderr; // as the stock runtimes do
    std::fwrite(line, 1, used + 1, where); // one call: lines of several threads do not mix
    std::fflush(where);
    std::free(line);
}

namespace {

// What a thread of the split region has asked for. Its bytes are written once, before `state` says
// so by release: a thread that binds itself again while the first sets are still to come into force
// is not worth a lock.
struct Bound {
    enum State : int { nothing, being_written, asked, in_force };
    std::atomic<int> state{nothing};
    CpuSet set;
};

// Made by the first thread that asks, and kept.
struct Bindings {
    SpinLock lock; // they are made once
    std::atomic<Bound *> of_threads{nullptr};
    int threads = 0; // written before `of_threads`

    Bound *of(int thread) {
        Bound *const all = of_threads.load(std::memory_order_acquire);
        return all && thread < threads ? &all[thread] : nullptr;
    }
    void make(int count) {
        const Guard guard(lock);
        if (!of_threads.load(std::memory_order_relaxed)) {
            threads = count;
            of_threads.store(new (std::nothrow) Bound[static_cast<std::size_t>(count)],
                             std::memory_order_release);
        }
    }
};
constinit Bindings g_bindings;

} // namespace

void note_own_binding(bool of_caller, std::size_t bytes, const cpu_set_t *set) {
    sched::Worker *const worker = sched::Worker::self();
    if (!splits_threads() || !worker || !worker->slot)
        return;
    const Member &member = member_of(*worker);
    const Team &team = *member.team;
    if (!team.threads) // each thread has a worker
        return;
    end_split_of_bound_threads();
    if (!of_caller)
        return;
    g_bindings.make(team.size);
    Bound *const own = g_bindings.of(member.index);
    int before = Bound::nothing;
    if (!own || !own->state.compare_exchange_strong(before, Bound::being_written))
        return;
    std::memcpy(own->set.data(), set, std::min(bytes, CpuSet::kBytes));
    own->state.store(Bound::asked, std::memory_order_release);
    look_at_affinity();
}

void bind_as_bound(const Member &member) {
    Bound *const own = g_bindings.of(member.index);
    int before = Bound::asked;
    if (!own || !member.team->outer || member.team->threads || member.team->level != 1 ||
        !own->state.compare_exchange_strong(before, Bound::in_force, std::memory_order_acquire))
        return;
    sched_setaffinity(0, CpuSet::kBytes, reinterpret_cast<const cpu_set_t *>(own->set.data()));
}

} // namespace sennit::omp
