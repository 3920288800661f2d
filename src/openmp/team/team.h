// SPDX-License-Identifier: Apache-2.0
// Teams: parallel regions, their threads and barriers (OpenMP 5.2, 10.1, 15.3).
//
// A Member is a thread of a team: a slot of a worker, and the implicit task that runs there. If a
// team has more threads than workers (virtual_team.h), a worker runs several of them. Teams are
// "hot": the worker that forks keeps its last teams, with their threads docked. So the next region
// of the same size costs one broadcast and one gather. Docked threads first help with the team's
// left-over tasks. Then they spin for a while, then they sleep.
//
// A Gate has an epoch. Members wait until it changes. A member polls the epoch, and meanwhile runs
// tasks of the team. Then it arms its cell and parks. open() wakes the members that are armed.
#pragma once

#include "base/spin.h"
#include "openmp/env/affinity.h"
#include "openmp/env/icv.h"
#include "openmp/events/events.h"
#include "openmp/team/inner_regions.h"
#include "openmp/team/placement.h"
#include "openmp/team/thread_values.h"
#include "tasks/sched/threads.h"
#include "tasks/sched/worker.h"
#include "tasks/task/observer.h"
#include "tasks/task/task.h"

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace sennit::omp {

// Loops as compilers describe them, and their iterations by number, 0 .. count-1. Values of a loop
// variable are kept as bits modulo 2^64, which suits signed and unsigned ones. A step downward is
// kept as a negated number.
struct Iterations {
    std::uint64_t start = 0;
    std::uint64_t step = 1;
    std::uint64_t count = 0;
    std::uint64_t end = 0; // for GCC's doors: exclusive, as the program gives it

    std::uint64_t value(std::uint64_t iteration) const { return start + iteration * step; }
    // The value where the iterations before number `iteration` end, exclusive. Behind the last
    // iteration it is the loop's own end, because one step more could leave the variable's type.
    std::uint64_t bound(std::uint64_t iteration) const {
        return iteration == count ? end : value(iteration);
    }

    // A loop over start, start + step .. before `end`, as GCC describes loops of `long`.
    static Iterations before(long start, long end, long step) {
        const bool up = step > 0;
        const bool empty = up ? start >= end : start <= end;
        return make(!empty, up, static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end),
                    static_cast<std::uint64_t>(step));
    }
    // The same for `unsigned long long`, where GCC gives the direction apart from the step.
    static Iterations before(bool up, std::uint64_t start, std::uint64_t end, std::uint64_t step) {
        return make(up ? start < end : start > end, up, start, end, step);
    }

    // The number of iterations of a loop over lower, lower + step .. upper, inclusive. It is
    // counted modulo the number of values of T, as LLVM's runtime does: flang describes an empty
    // loop as 0 .. 2^n - 1 with a step of 1.
    template <class T, class S>
    static std::uint64_t count_through(T lower, T upper, S step) {
        using U = std::make_unsigned_t<T>;
        if (step > 0 ? lower > upper : lower < upper)
            return 0;
        const bool up = step > 0;
        const U span = up ? static_cast<U>(upper) - static_cast<U>(lower)
                          : static_cast<U>(lower) - static_cast<U>(upper);
        const U stride = up ? static_cast<U>(step) : U{0} - static_cast<U>(step);
        return static_cast<U>(span / stride + 1);
    }

  private:
    static Iterations make(bool any, bool up, std::uint64_t start, std::uint64_t end,
                           std::uint64_t step) {
        const std::uint64_t span = up ? end - start : start - end;
        const std::uint64_t stride = up ? step : std::uint64_t{0} - step;
        return {start, step, any ? (span - 1) / stride + 1 : 0, end};
    }
};

struct Team;
struct Member;
class InnerHistory; // virtual_team.h
class VirtualTeam;  // virtual_team.h

// A wait on a member's cell, with a count of the members that wait. Derived classes say what the
// wait is for. A wake-up may be meant for another wait of the same member, so a member looks again.
class MemberCondition : public sched::Condition {
  public:
    bool arm(sched::Fiber *fiber) final;
    bool disarm(sched::Fiber *fiber) final;
    void finish();

  protected:
    MemberCondition(Member &member, Atomic<int> &parked, sched::WaitFor kind, const void *object)
        : Condition(kind, object), member_(member), parked_(parked) {
        patient = true;
    }
    ~MemberCondition() = default;
    // Called after the count says that we park. A thread that changes what we wait for looks at the
    // count afterwards. Both are seq_cst, so one sees the other.
    virtual bool holds() const = 0;
    Member &member_;

  private:
    Atomic<int> &parked_;
    bool armed_ = false;
};

class Gate {
  public:
    std::uint32_t epoch() const { return epoch_.load(std::memory_order_acquire); }
    const Atomic<std::uint32_t> &word() const { return epoch_; }
    // Change the epoch, and let all through that wait for the change.
    void open(Team &team);
    // They will be let through as if they waited: open() makes them begin.
    void note_recruits() { armed_.fetch_add(1, std::memory_order_relaxed); }

  private:
    friend class GateCondition;
    Atomic<std::uint32_t> epoch_{0};
    Atomic<int> armed_{0};
};

// What a room above keeps for a team. It is made when a thread of the team first needs it.
class TeamExtension {
  public:
    virtual void reset(Team &team) = 0; // a region begins; its threads have not begun
    virtual void drop() = 0;            // the team ends

  protected:
    ~TeamExtension() = default;
};

// A thread's part in worksharing (openmp/loops/).
struct DoacrossShare;
struct MemberWorkshares {
    std::uint32_t begun = 0;           // worksharing loops and sections begun in this region
    std::uint32_t singles = 0;         // `single` constructs met in this region
    std::uint32_t doacross_begun = 0;  // likewise, loops with ordered(n)
    DoacrossShare *doacross = nullptr; // the one that the thread is in
    void *loop = nullptr;              // the construct that this thread is in
    // static: number of pieces so far; dynamic: 1 after the final chunk; lent: length of the piece
    std::uint64_t position = 0;
    std::uint64_t piece_began = 0; // lent: when, in ticks()
    // The present piece of an ordered loop. The thread before this one reads it to find out whom to
    // wake.
    Atomic<std::uint64_t> ordered_first{0};
    std::uint64_t ordered_last = 0;
    void *extra = nullptr; // for the front door: how it translates normalized iterations
    Iterations iterations; // likewise
};

// One thread of a team.
struct Member : sched::Slot {
    // The creator of an explicit task sets its priority and its age. Nobody does so for this one.
    Member() {
        implicit.priority = 0;
        implicit.age = 0;
    }

    Team *team = nullptr;
    Task implicit;
    task::ToolRecord record; // of `implicit`
    Icvs own_icvs;           // used if the implicit task has changed one
    sched::WaitCell cell;
    MemberWorkshares work;
    Placement placement;
    void *abi_data = nullptr; // for GOMP's or kmp's door, in this region
    int lane = -1;            // in a virtual team: the lane of the worker that is docked here
    bool visits = false;      // a helper runs it, at its place in the outermost team
};

// The function that each thread of a region runs. `data` begins with a pointer to the region's
// function in the program: what is remembered of a region is found by this function.
using Body = void (*)(Member &member, void *data);

// The league that a team belongs to (OpenMP 5.2, 10.2), and its number there.
struct League {
    int size = 1;
    int rank = 0;
    ompt::Region *tool = nullptr; // of the teams region
};

// The threads of all parallel regions below one initial thread, or one team of a league, or one
// target region (OpenMP 5.2, 1.2.1). They are counted if there is a thread_limit.
struct ContentionGroup {
    std::atomic<int> threads{1};

    // Count up to `size` - 1 more threads, but at most `limit` in all. Returns the size of the
    // region.
    int reserve(int size, int limit);
};

// For a task of it that may leave it, but found no free agent. They come where there is a processor
// for one, or in any case.
enum class AwaitsAgent : std::uint8_t { no, with_room, surely };

struct Team final : sched::Group {
    Team *outer = nullptr;          // team of the encountering task; null for an initial team
    Member *encountering = nullptr; // the thread of `outer` that forked this team
    League league;
    ContentionGroup *contention = nullptr;
    ContentionGroup own_contention; // of an initial team
    int counted = 0;                // threads of this team that `contention` counts
    int level = 0;                  // omp_get_level()
    int active_level = 0;           // omp_get_active_level()
    Team *next_initial = nullptr;   // the list of initial threads' teams
    Team *next_cached = nullptr;    // the forking thread's list of hot teams
    Team *next_awaiting = nullptr;  // the list of teams that wait for a free agent
    int workers = 0;                // kernel threads: `size`, or less in a virtual team
    int asked = 0;                  // team_key() of the request, also if there were fewer threads
    bool in_use = false;
    bool of_agents = false;      // that of the free agents
    std::uint32_t inherited = 0; // Task::kHandsOn, if the encountering task has it
    enum class Kind : std::uint8_t {
        region,
        exact,   // the same, of so many threads as are asked for
        opened,  // a region; the program itself calls the part of its first thread
        initial, // one thread that begins a contention group
        league,  // the threads that run the initial teams of a league
    };
    Kind kind = Kind::region;
    bool is_region() const { return kind <= Kind::opened; }
    // The team of the active region around all others, whose idle workers help in inner regions;
    // null where threads are not split. In that team: the inner regions.
    Team *outermost = nullptr;
    InnerRegions inner;
    bool disband = false; // docked threads: go home
    FutexWord at_home{0}; // how many have gone home
    // The threads begin with their maker's floating-point control, as new threads of the system do.
    fiber::FpControl control = fiber::fp_control();
    // How many threads have arrived at a barrier or at the join. Those at the join are counted
    // again, times kJoin: in a cancelled region only these count.
    static constexpr std::int64_t kJoin = std::int64_t{1} << 32;
    alignas(kCacheLine) Atomic<std::int64_t> arrived{0};
    alignas(kCacheLine) Gate barrier;
    // One cache line tells a docked thread all that it needs to begin.
    alignas(kCacheLine) Gate fork;
    Body body = nullptr;
    void *data = nullptr;
    const Icvs *icvs = nullptr; // for the implicit tasks: the encountering task's
    Task *encountering_task = nullptr;
    alignas(kCacheLine) Atomic<TeamExtension *> workshares{nullptr};
    std::atomic<AwaitsAgent> awaits_agent{AwaitsAgent::no}; // free_agents.cpp
    sched::Recruits recruits;             // its threads, before its first region opens `fork`
    void *copyprivate = nullptr;          // published by the `single` thread
    Atomic<bool> share_cancelled{false};  // a worksharing construct is, until the next barrier
    TaskReductions *reductions = nullptr; // parallel reduction(task, ...)
    VirtualTeam *threads = nullptr;       // if there are more threads than workers
    TeamPlacement placement;
    // Where threads are split: the sets that the team's maker keeps, and the one of this region's
    // threads, if one of them has asked.
    ValueSets *kept_values = nullptr;
    std::atomic<ValueSet *> values{nullptr};
    ompt::Region tool;
    std::uint64_t traced = 0; // the region's number in the trace; 0: it has none

    void forget_workshares() {
        // Acquire: another thread of an earlier region may have made them.
        if (TeamExtension *const extension = workshares.load(std::memory_order_acquire))
            extension->reset(*this);
    }
    bool is_inner() const { return threads && outermost != this; }
    Member &member(int index) { return *static_cast<Member *>(slots[index]); }
    void settle() override;
    bool can_settle() const override;
    bool has_unbegun(const sched::Slot &mine) const override;
    bool must_begin(const sched::Slot &mine) const override;
    bool begin_one(sched::Worker &worker, sched::Slot &mine) override;
};

// The calling thread's worker, ready for use: an unknown thread becomes an initial thread.
sched::Worker &attach();
inline sched::Worker &here() {
    sched::Worker *worker = sched::Worker::self();
    return SENNIT_LIKELY(worker && worker->slot) ? *worker : attach();
}
// Is the caller the thread that loaded the library?
bool is_initial_thread();
// Threads of the regions that run now. A hint.
int active_threads();
// Are there tasks that a thread of the program has created outside of regions, and that have not
// ended?
bool tasks_left_outside();
inline Member &member_of(sched::Worker &worker) {
    return *static_cast<Member *>(worker.slot);
}

// The number of threads of a region that asks for `wanted` threads (0: nthreads-var) with
// if(`parallel`). The caller has to fork() a region of this size, because the threads count against
// the thread limit from now on. `function`: the region's; null: it is not to have one thread only
// because it is an inner region that is not cut (inner_regions.h).
int region_size(sched::Worker &worker, int wanted, bool parallel, const void *function);

// Where threads are split: what the calling thread keeps from region to region. Null: its worker's
// number tells it from all other threads.
ThreadValues *values_here(sched::Worker &worker);

// Start a region of `size` threads. The caller becomes thread 0; the others begin body(member,
// data) at once. The caller has to run the same, and then to call join().
Team &fork(sched::Worker &worker, int size, Body body, void *data,
           Team::Kind kind = Team::Kind::region);
void join(sched::Worker &worker);

// fork(), body() on the caller, join().
void parallel(sched::Worker &worker, int size, Body body, void *data,
              Team::Kind kind = Team::Kind::region);

// The same for front doors. The program has called at `site`.
void parallel_told(sched::Worker &worker, ompt::Site site, int size, Body body, void *data,
                   Team::Kind kind);
SENNIT_TOLD void parallel(sched::Worker &worker, ompt::Where auto site, int size, Body body,
                          void *data, Team::Kind kind = Team::Kind::region) {
    if (ompt::on())
        return parallel_told(worker, site, size, body, data, kind);
    parallel(worker, size, body, data, kind);
}
// Begin and end a region of one thread. The program calls its body between the two. `frame` is
// where the routine has kept the program's frame pointer, if it had one.
void begin_serialized_told(ompt::Site site, void *const *frame);
SENNIT_TOLD void begin_serialized(sched::Worker &worker, ompt::Where auto site,
                                  void *const *frame) {
    if (ompt::on())
        begin_serialized_told(site, frame);
    else
        fork(worker, 1, nullptr, nullptr, Team::Kind::opened);
}
void end_serialized_told(ompt::Site site);
SENNIT_TOLD void end_serialized(sched::Worker &worker, ompt::Where auto site) {
    if (ompt::on())
        end_serialized_told(site);
    else
        join(worker);
}

// A teams region (league.cpp): a league of `teams` initial teams (0: the default number), of one
// thread each. Their contention groups have at most `thread_limit` threads (0: as before). The
// teams run one after the other, or with `at_once` side by side, as far as there are processors.
void run_league(sched::Worker &worker, int teams, int thread_limit, bool at_once, Body body,
                void *data);

// fork() for the team of an initial thread, which begins a contention group, with the settings
// `icvs` (null: the encountering task's). The caller has to join() it.
Member &begin_initial(sched::Worker &worker, League league, Body body, void *data,
                      const Icvs *icvs = nullptr);

// The barrier of the innermost team. When it opens, all tasks of the team have ended. True: the
// region was cancelled, and nobody waits.
bool barrier(sched::Worker &worker);

// Send the threads of the hot teams that the caller keeps back to the pool.
void disband_idle_teams(sched::Worker &worker);
// The same, and then the threads end.
void release_threads(sched::Worker &worker);

// Called in the child of fork(), where only the calling thread is left.
void team_after_fork_in_child();
void regions_after_fork_in_child();

// ---- for other files of this room and the rooms beside it

// Make a team of `size` threads on so many workers (0: one for each thread), and free it. Its
// workers are not started.
Team *make_team(int size, int workers = 0);
void drop_team(Team *team);
// `threads` threads arrive: at a barrier (`at_join` is 0), or at the end of their implicit tasks
// (Team::kJoin).
void arrive(Team &team, std::int64_t at_join, int threads = 1);
// Wait until the gate's epoch differs from `seen`.
void pass(sched::Worker &worker, Member &member, Gate &gate, std::uint32_t seen,
          bool cancellable = false);

// Implicit tasks: how one begins (OpenMP 5.2, 10.1).

// The implicit task of `member` begins on the calling thread.
inline void start_implicit(sched::Worker &worker, Member &member) {
    Task &task = member.implicit;
    const Team &team = *member.team;
    task.parent = team.encountering_task;
    task.icvs = team.icvs;
    task.taskgroup = nullptr;
    task.flags = Task::kImplicit | team.inherited;
    task.spawned = 0;
    task.folded.store(false, std::memory_order_relaxed);
    task.pending.store(0, std::memory_order_relaxed);
    task.home.store(&worker, std::memory_order_relaxed);
    member.work.begun = 0;
    member.work.singles = 0;
    member.work.doacross_begun = 0;
    member.work.loop = nullptr; // a cancelled region may have left one
    member.work.doacross = nullptr;
    worker.task = &task;
    worker.slot = &member;
    enter_place(member);
}

// What is kept for a thread that forks: its hot teams.
struct Home {
    Team *initial = nullptr; // for a thread of the program
    Team *cached = nullptr;  // a list, the most recently used first
    ValueSets values;        // of threads of its regions
    ValueSets
        inner_values; // the same of inner ones: a thread may ask there before one outside does
    InnerHistory *inner = nullptr;
};
Home &home_of(sched::Worker &worker);

// Which workers a team's threads have: each its own one, or all those of a virtual team, or all the
// one that encountered the region (inner_regions.h).
enum class Split : std::uint8_t { none, outer, inner };

// The key by which hot teams are found.
inline int team_key(int size, Split split) {
    constexpr int kInner = 1 << 30;
    return SENNIT_LIKELY(split == Split::none) ? size
           : split == Split::outer             ? -size
                                               : -size - kInner;
}

// Find a hot team that is not in use, or make a new one. It has fewer threads if there are not so
// many.
Team &find_team(sched::Worker &worker, int size, Split split, int level);
inline Team &take_team(sched::Worker &worker, int size, Split split, int level) {
    const auto *home = static_cast<const Home *>(worker.room);
    if (Team *last = home ? home->cached : nullptr;
        split != Split::inner && last && !last->in_use && last->asked == team_key(size, split) &&
        last->level == level)
        return *last;
    return find_team(worker, size, split, level);
}

} // namespace sennit::omp

namespace sennit {

// Changing the ICVs of a task (OpenMP 5.2, 2.2).

// A copy of the current task's ICVs. Changes of the copy take effect when it is destroyed.
class IcvUpdate {
  public:
    explicit IcvUpdate(sched::Worker &worker);
    ~IcvUpdate();
    IcvUpdate(const IcvUpdate &) = delete;
    IcvUpdate &operator=(const IcvUpdate &) = delete;
    Icvs *operator->() { return &changed_; }
    Icvs &operator*() { return changed_; }

  private:
    sched::Worker &worker_;
    Icvs changed_;
};
inline IcvUpdate icvs_for_update(sched::Worker &worker) {
    return IcvUpdate(worker);
}

} // namespace sennit
