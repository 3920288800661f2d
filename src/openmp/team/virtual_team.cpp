// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/virtual_team.h"

#include "base/compiler.h"
#include "base/hash.h"
#include "base/message.h"
#include "openmp/team/spare_threads.h"
#include "openmp/team/team.h"
#include "tasks/fiber/context.h"
#include "tasks/task/accounts.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sennit::omp {
namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// A helper takes some ten microseconds to come. So it is called where a region goes on for so long.
constexpr std::uint64_t kHelpAfterUs = 100;
std::uint64_t help_after() {
    return kHelpAfterUs * sched::ticks_per_us();
}

std::uint64_t worked_ns(sched::Worker &worker) {
    return static_cast<std::uint64_t>(worker.thread.clock_ns(sched::ClockUse::part));
}

} // namespace

VirtualTeam *VirtualTeam::make(Team &team, bool inner) {
    const auto workers = static_cast<std::size_t>(team.workers);
    const bool adapts = split_adapts() && !inner;
    const std::size_t regions_at = sizeof(VirtualTeam) + workers * sizeof(Lane);
    const std::size_t parts_at = regions_at + (adapts ? workers * sizeof(RegionHistory) : 0);
    const std::size_t own_at = parts_at + PartHistory::size_for(team.workers, team.size);
    const std::size_t size = own_at + workers * sizeof(int); // `own` is needed here only
    static_assert(sizeof(VirtualTeam) % alignof(Lane) == 0);
    static_assert(sizeof(Lane) % alignof(RegionHistory) == 0);
    static_assert(sizeof(RegionHistory) % alignof(PartHistory) == 0);
    void *memory = std::aligned_alloc(kCacheLine, (size + kCacheLine - 1) & ~(kCacheLine - 1));
    if (!memory)
        fatal("no memory for a team of threads (%zu bytes): lower SENNIT_SPLIT", size);
    auto *const bytes = static_cast<std::byte *>(memory);
    auto *const lanes = reinterpret_cast<Lane *>(bytes + sizeof(VirtualTeam));
    auto *made = new (memory) VirtualTeam(team, lanes);
    auto *regions = reinterpret_cast<RegionHistory *>(bytes + regions_at);
    auto *own = reinterpret_cast<int *>(bytes + own_at);
    for (int i = 0; i < team.workers; ++i) {
        new (&lanes[i]) Lane;
        if (adapts)
            lanes[i].regions = new (&regions[i]) RegionHistory;
        own[i] = first_of(i, team);
        static_cast<Member *>(team.slots[own[i]])->lane = i;
    }
    made->parts_ = PartHistory::make(bytes + parts_at, {own, workers}, team.size);
    return made;
}

void VirtualTeam::drop(VirtualTeam *threads) {
    if (!threads)
        return;
    threads->~VirtualTeam();
    std::free(threads);
}

// There is something to steal. Either we see that a thief has said that there is nothing, or it
// sees what we have put there.
void VirtualTeam::note_unbegun(Team &team) {
    full_fence(); // pairs with that in steal()
    if (!exhausted_.load(std::memory_order_relaxed))
        return;
    exhausted_.store(false, std::memory_order_relaxed);
    sched::announce_work(team); // who looked in vain may sleep by now
}

// A thief that finds nothing before the others have come says so.
void VirtualTeam::begin(const Team &team) {
    sched::note_unbegun(1);
    regions_.fetch_add(1, std::memory_order_relaxed);
    exhausted_.store(is_inner(), std::memory_order_relaxed); // or there is another worker
    any_taken_.store(false, std::memory_order_relaxed);
    any_waited_.store(false, std::memory_order_relaxed);
    parts_->begin(function_of(team));
    if (SENNIT_UNLIKELY(sched::shares_cores()))
        began_ = ticks();
    spares_.begin();
}

void VirtualTeam::end() {
    if (is_inner())
        end_inner();
    spares_.end();
    if (SENNIT_UNLIKELY(sched::shares_cores())) {
        last_took_ = ticks() - began_;
        call_helpers(0);
    }
    sched::note_unbegun(-1);
    parts_->end(any_taken_.load(std::memory_order_relaxed),
                any_waited_.load(std::memory_order_relaxed));
}

// Under the range's lock: a thief of the last region may still be looking. What it finds by then
// is this region's, which is complete: we have seen it begin.
void VirtualTeam::begin_part(sched::Worker &worker, Team &team, const Member &mine) {
    Lane &lane = lanes_[mine.lane];
    if (is_inner())
        return begin_inner(lane);
    const std::uint64_t first = parts_->first(mine.lane);
    const std::uint64_t last = parts_->last(mine.lane);
    if (lane.regions) {
        offer(team, lane, first, last);
        lane.began = ticks();
    }
    if (SENNIT_UNLIKELY(parts_->measures()))
        lane.worked_ns = worked_ns(worker);
    else
        worker.thread.end_clock(sched::ClockUse::part); // of the last region
    lane.range.refill(first, last);
    note_unbegun(team);
    if (SENNIT_UNLIKELY(sched::shares_cores()) && last_took_ > 2 * help_after())
        call_helpers(static_cast<int>(last - first));
}

// All threads but the maker's first. Each idle worker that comes calls the next one.
void VirtualTeam::begin_inner(Lane &lane) {
    lane.range.refill(0, static_cast<std::uint64_t>(team_.size) - 1);
    team_.outermost->inner.add(offered_);
    sched::announce_work(*team_.outermost);
}

// All have arrived: the range is empty.
void VirtualTeam::end_inner() {
    team_.outermost->inner.remove(offered_);
    const auto taken = team_.size - 1 - static_cast<int>(lanes_->range.stopped_at());
    if (inner_.history)
        inner_.history->record(function(), inner_.threads, taken);
    trace_offer(team_, inner_.threads, taken);
}

// Where processes share cores, between two threads of a worker: is its core to be left, and could
// helpers have the worker's other threads?
SENNIT_NOINLINE void VirtualTeam::pass_member(sched::Worker &worker, const Lane &lane) const {
    worker.seat.pass_chunk();
    if (ticks() - began_ > help_after())
        call_helpers(static_cast<int>(lane.range.left()));
}

// Workers that have had their part in the region, and have nothing left to do. Those that wait for
// others to need them are counted. Of those that have gone to the join we know how many threads
// they have brought there: as many workers as usually have so many.
int VirtualTeam::idle_workers(const Team &team) const {
    const std::int64_t ended = team.arrived.load(std::memory_order_relaxed) / Team::kJoin;
    const auto left = static_cast<int>((ended * team.workers + team.size - 1) / team.size);
    return waiting_.load(std::memory_order_relaxed) + left;
}

// The last ones, as many as the region's history says, or as there are idle workers.
void VirtualTeam::offer(const Team &team, Lane &lane, std::uint64_t first, std::uint64_t last) {
    lane.history = &lane.regions->of(function_of(team));
    const int offered =
        lane.history->pieces(idle_workers(team), static_cast<int>(last - first) + 1);
    lane.offered_from.store(last - static_cast<std::uint64_t>(offered), std::memory_order_relaxed);
    lane.last = last;
}

// Its worker has found the range empty. Idle ones may have taken more than was offered.
SENNIT_NOINLINE void VirtualTeam::record(Lane &lane) const {
    const auto taken = static_cast<int>(lane.last - lane.range.stopped_at());
    const auto offered =
        static_cast<int>(lane.last - lane.offered_from.load(std::memory_order_relaxed));
    lane.history->record(std::max(offered, taken), taken);
    lane.history = nullptr;
    trace_offer(team_, offered, taken);
    // From now on what it has is stolen: who asks may have it.
    lane.offered_from.store(0, std::memory_order_relaxed);
}

[[gnu::always_inline]] inline bool VirtualTeam::take(Lane &lane, std::uint64_t *place) const {
    if (lane.range.take(place))
        return true;
    if (lane.history)
        record(lane);
    return false;
}

// From who has most left. The caller has found its own range empty.
SENNIT_NOINLINE bool VirtualTeam::steal(Team &team, const Member &mine, From from,
                                        std::uint64_t most_at_once, std::uint64_t *place) {
    Lane &lane = lanes_[mine.lane];
    if (exhausted_.load(std::memory_order_relaxed))
        return false;
    for (bool said = false;;) {
        Lane *victim = nullptr;
        std::uint64_t victim_from = 0;
        std::uint64_t most = 0;
        bool any = false;
        for (Lane *other = lanes_; other != lanes_ + workers_; ++other) {
            if (other == &lane || other->range.left() == 0)
                continue;
            any = true;
            const std::uint64_t first =
                from == From::all ? 0 : other->offered_from.load(std::memory_order_relaxed);
            const std::uint64_t left = other->range.left(first);
            if (left > most) {
                most = left;
                victim = other;
                victim_from = first;
            }
        }
        if (!any) {
            if (said)
                return false;
            exhausted_.store(true, std::memory_order_relaxed);
            full_fence(); // and look again: note_unbegun()
            said = true;
            continue;
        }
        if (said)
            note_unbegun(team);
        said = false;
        if (!victim)
            return false;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        if (!victim->range.steal_if([&] { return !mine.is_late(); }, &first, &last, victim_from,
                                    most_at_once)) {
            if (mine.is_late())
                return false;
            continue;
        }
        *place = first;
        if (!any_taken_.load(std::memory_order_relaxed))
            any_taken_.store(true, std::memory_order_relaxed);
        if (last - first > 1) {
            lane.range.refill(first + 1, last);
            note_unbegun(team);
        }
        return true;
    }
}

// The caller has nothing to do. Is it still so when it may take what is not offered? False: there
// is nothing any more. Explicit tasks, if there are some, do not wait meanwhile.
//
// It is counted only while it waits: the last worker to be done, for whom all others wait, finds
// nothing at once.
bool VirtualTeam::stays_idle(const Team &team, const Lane &lane) {
    if (exhausted_.load(std::memory_order_relaxed))
        return false;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    const bool is_left = waits_idle(team, lane);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return is_left;
}

bool VirtualTeam::waits_idle(const Team &team, const Lane &lane) const {
    std::uint64_t now = ticks();
    const std::uint64_t end = now + idle_patience(now - lane.began);
    for (; now < end; now = ticks()) {
        if (exhausted_.load(std::memory_order_relaxed))
            return false;
        if (team.has_tasks.load(std::memory_order_relaxed))
            return true;
        wait_a_moment();
    }
    return true;
}

// As a thread of the system would: with the floating-point control of the team's maker.
[[gnu::always_inline]] inline void VirtualTeam::start(sched::Worker &worker, Team &team,
                                                      Member &mine, Member &member) {
    member.move_in_with(mine);
    member.stay_near(mine);
    fiber::set_fp_control(team.control);
    start_implicit(worker, member);
}

[[gnu::always_inline]] inline void VirtualTeam::run(sched::Worker &worker, Team &team, Member &mine,
                                                    int number) {
    Member &member = team.member(number);
    start(worker, team, mine, member);
    team.body(member, team.data);
    task::retire_implicit(worker, member.implicit);
}

SENNIT_NOINLINE void VirtualTeam::run_watched(sched::Worker &worker, Team &team, Member &mine,
                                              int number) {
    const bool measures = parts_->measures();
    const std::uint64_t before_ns = measures ? worked_ns(worker) : 0;
    Member &member = team.member(number);
    start(worker, team, mine, member);
    if (observed::by(observed::kAccounts))
        task::begin_implicit_work(worker, member.implicit, *team.encountering_task);
    team.body(member, team.data);
    task::retire_implicit(worker, member.implicit);
    if (observed::by(observed::kAccounts))
        task::end_implicit_work(worker, member.implicit);
    if (measures)
        parts_->note_load(number, worked_ns(worker) - before_ns);
}

// What the worker's own thread has worked, before it looks for others.
SENNIT_NOINLINE void VirtualTeam::end_first_watched(sched::Worker &worker, Member &mine) {
    if (observed::by(observed::kAccounts))
        task::rest_from_work(worker);
    if (parts_->measures())
        parts_->note_load(mine.index, worked_ns(worker) - lanes_[mine.lane].worked_ns);
}

// Without a trace in the worker's own thread. One atomic operation counts all of them: before it
// nobody waits for them but the join.
int VirtualTeam::run_others(sched::Worker &worker, Team &team, Member &mine) {
    Lane &lane = lanes_[mine.lane];
    const fiber::FpControl control = fiber::fp_control();
    From from = lane.regions ? From::offered : From::all;
    const bool watched = are_watched();
    const bool shares = sched::shares_cores();
    if (SENNIT_UNLIKELY(watched))
        end_first_watched(worker, mine);
    const std::span<const int> threads = parts_->others();
    int ended = 0;
    for (;;) {
        if (SENNIT_UNLIKELY(shares)) // before it takes one, which others with a core could run
            pass_member(worker, lane);
        std::uint64_t place = 0; // in a register
        if (SENNIT_UNLIKELY(!take(lane, &place))) {
            std::uint64_t stolen = 0;
            if (!steal(team, mine, from, kNoLimit, &stolen)) {
                if (from == From::all || !stays_idle(team, lane))
                    break;
                from = From::all;
                continue;
            }
            place = stolen;
        }
        run(worker, team, mine, threads[place], watched);
        ++ended;
    }
    fiber::set_fp_control(control);
    worker.task = &mine.implicit;
    worker.slot = &mine;
    return ended;
}

// The worker's other threads wait, so it waits for nothing before it steals. If its part in the
// region is over, it takes what it runs at once and no more: it needs its range for the next one.
bool VirtualTeam::run_one(sched::Worker &worker, Team &team, Member &mine) {
    Lane &lane = lanes_[mine.lane];
    std::uint64_t place = 0;
    if (!take(lane, &place) && !steal(team, mine, From::all, mine.regions ? 1 : kNoLimit, &place))
        return false;
    if (!mine.regions)
        any_waited_.store(true, std::memory_order_relaxed);
    const fiber::FpControl control = fiber::fp_control();
    const int number = parts_->thread_of(place);
    begin_traced_part(team);
    run(worker, team, mine, number, are_watched());
    end_traced_part(team);
    fiber::set_fp_control(control);
    worker.task = &mine.implicit;
    worker.slot = &mine;
    arrive(team, Team::kJoin); // last: the region may be over
    return true;
}

// One thread, for a caller without a range.
bool VirtualTeam::take_from_others(std::uint64_t *place) {
    Lane *victim = nullptr;
    do {
        std::uint64_t most = 0;
        victim = nullptr;
        for (Lane *lane = lanes_; lane != lanes_ + workers_; ++lane)
            if (const std::uint64_t left = lane->range.left(); left > most) {
                most = left;
                victim = lane;
            }
        std::uint64_t last = 0;
        if (victim && victim->range.steal(place, &last, 0, 1))
            return true;
    } while (victim);
    return false;
}

// In its own slot until the join: a task of the thread's that is suspended goes on here.
void VirtualTeam::run_spare(sched::Worker &worker) {
    Team &team = team_;
    std::uint64_t place = 0;
    if (!take_from_others(&place))
        return;
    any_waited_.store(true, std::memory_order_relaxed);
    Member &member = team.member(parts_->thread_of(place));
    worker.enter(member);
    begin_traced_part(team);
    run(worker, team, member, member.index, are_watched());
    end_traced_part(team);
    const std::uint32_t seen = team.barrier.epoch();
    arrive(team, Team::kJoin);
    worker.task = &member.implicit;
    pass(worker, member, team.barrier, seen);
    worker.leave(member);
}

// In the slot of the first thread that it runs, as a worker does in that of its own thread. If
// tasks are left in the slot, or suspended on the caller's stacks, it stays until the join.
void VirtualTeam::run_as_guest(sched::Worker &worker, Member &mine, std::uint64_t place) {
    Team &team = team_;
    worker.enter(mine);
    begin_traced_part(team);
    const bool watched = are_watched();
    int ended = 0;
    do {
        run(worker, team, mine, parts_->thread_of(place), watched);
        ++ended;
    } while (!worker.seat.is_to_leave() && take_from_others(&place));
    end_traced_part(team);
    worker.task = &mine.implicit;
    worker.slot = &mine;
    const std::uint32_t seen = team.barrier.epoch();
    if (team.has_tasks.load(std::memory_order_relaxed) &&
        (worker.has_parked() || mine.ready() != 0)) {
        arrive(team, Team::kJoin, ended);
        pass(worker, mine, team.barrier, seen);
        worker.leave(mine);
    } else {
        worker.leave(mine);
        arrive(team, Team::kJoin, ended);
    }
}

void VirtualTeam::help(sched::Worker &worker) {
    std::uint64_t place = 0;
    if (!take_from_others(&place))
        return;
    any_taken_.store(true, std::memory_order_relaxed);
    run_as_guest(worker, team_.member(parts_->thread_of(place)), place);
    worker.task = nullptr;
    worker.slot = nullptr;
}

// The team goes on to another region when it has no visitors.
void VirtualTeam::help_idle(sched::Worker &worker, sched::Slot &mine, std::uint64_t place) {
    Team &team = team_;
    team.visit();
    Member &guest = team.member(parts_->thread_of(place));
    guest.stay_near(mine);
    guest.placement = static_cast<const Member &>(mine).placement;
    guest.visits = true;
    const fiber::FpControl control = fiber::fp_control();
    run_as_guest(worker, guest, place);
    fiber::set_fp_control(control);
    guest.visits = false;
    worker.slot = &mine;
    team.leave();
}

std::uint64_t VirtualTeam::unbegun() const {
    std::uint64_t count = 0;
    for (const Lane *lane = lanes_; lane != lanes_ + workers_; ++lane)
        count += lane->range.left();
    return count;
}

const void *VirtualTeam::function() const {
    return function_of(team_);
}

std::uint64_t VirtualTeam::trail() const {
    std::uint64_t trail =
        hash_after(regions_.load(std::memory_order_relaxed),
                   static_cast<std::uint64_t>(team_.arrived.load(std::memory_order_relaxed)));
    for (const Lane *lane = lanes_; lane != lanes_ + workers_; ++lane)
        trail = hash_after(hash_after(trail, lane->range.stopped_at()), lane->range.left());
    return trail;
}

bool Team::must_begin(const sched::Slot &mine) const {
    const auto &member = static_cast<const Member &>(mine);
    return threads && member.lane >= 0 && threads->has_any(member);
}

bool Team::has_unbegun(const sched::Slot &mine) const {
    return must_begin(mine) || (inner.any() && !mine.is_late());
}

bool Team::begin_one(sched::Worker &worker, sched::Slot &mine) {
    auto &member = static_cast<Member &>(mine);
    if (threads && member.lane >= 0 && threads->run_one(worker, *this, member))
        return true;
    std::uint64_t place = 0;
    OfferedRegion *const region = inner.take([&] { return !mine.is_late(); }, &place);
    if (!region)
        return false;
    if (inner.any())
        sched::announce_work(*this);
    region->threads.help_idle(worker, mine, place);
    return true;
}

namespace {

// Threads are placed anew only if the worker that has most has so much more than it need have, in
// parts of it. Each time that threads are placed, they lose what they have in caches.
constexpr std::uint64_t kWorthIt = 32;

} // namespace

std::size_t PartHistory::size_for(int workers, int threads) {
    static_assert(sizeof(PartHistory) % alignof(std::uint64_t) == 0);
    const std::size_t ends = index(workers) + 1;
    return sizeof(PartHistory) + index(threads) * sizeof(std::uint64_t) +
           index(workers) * sizeof(balance::Progress) + kPlaces * sizeof(Entry) +
           (index(threads) + ends + (kPlaces + 1) * ends) * sizeof(int);
}

PartHistory *PartHistory::make(void *memory, std::span<const int> own, int threads) {
    auto *made = new (memory) PartHistory;
    const auto workers = static_cast<int>(own.size());
    made->workers_ = workers;
    made->threads_ = threads;
    made->loads_ = reinterpret_cast<std::uint64_t *>(made + 1);
    std::fill_n(made->loads_, threads, 0);
    made->progress_ = reinterpret_cast<balance::Progress *>(made->loads_ + threads);
    made->entries_ = reinterpret_cast<Entry *>(made->progress_ + workers);
    std::fill_n(made->entries_, kPlaces, Entry{});
    made->own_ = reinterpret_cast<int *>(made->entries_ + kPlaces);
    std::copy(own.begin(), own.end(), made->own_);
    made->others_ = made->own_ + workers;
    made->equal_ = made->others_ + (threads - workers);
    made->ends_of_ = made->equal_ + workers + 1;
    int *other = made->others_;
    for (int worker = 0; worker < workers; ++worker) {
        made->equal_[worker] = static_cast<int>(other - made->others_);
        const int end = worker + 1 < workers ? own[index(worker) + 1] : threads;
        for (int thread = own[index(worker)] + 1; thread < end; ++thread)
            *other++ = thread;
    }
    made->equal_[workers] = threads - workers;
    made->ends_ = made->equal_;
    return made;
}

void PartHistory::begin(const void *function) {
    current_ = nullptr;
    measures_ = false;
    ends_ = equal_;
    if (!function || workers_ == 1)
        return;
    bool is_new = false;
    const std::size_t place = places_.find(function, &is_new);
    current_ = entries_ + place;
    if (SENNIT_UNLIKELY(is_new))
        *current_ = {};
    else if (current_->is_placed)
        ends_ = ends_of(place);
    measures_ = current_->measures;
}

balance::PieceLoads PartHistory::pieces() const {
    return {{loads_, index(threads_)}, {own_, index(workers_)}, others()};
}

// Cuts by what was measured. False: what was before is as good. With few large threads it may be:
// if they come last in a range, nobody can take the last one over.
bool PartHistory::place() {
    const std::size_t count = index(workers_) + 1;
    const std::span found(ends_of(kPlaces), count);
    const std::uint64_t most = balance::most_loaded(pieces(), {ends_, count});
    balance::cut_by_loads(pieces(), found);
    if (most - most / kWorthIt <= balance::most_loaded(pieces(), found))
        return false;
    const std::span progress(progress_, index(workers_));
    const std::uint64_t before = balance::end_with_thieves(pieces(), {ends_, count}, progress);
    if (before + before / kWorthIt < balance::end_with_thieves(pieces(), found, progress))
        return false;
    std::copy(found.begin(), found.end(), ends_of(static_cast<std::size_t>(current_ - entries_)));
    current_->is_placed = true;
    return true;
}

void PartHistory::end(bool any_taken, bool any_waited) {
    if (!current_ || (!any_taken && !measures_))
        return;
    Entry &entry = *current_;
    if (measures_) {
        const bool changed = !any_waited && place();
        entry.pause =
            changed ? 0 : static_cast<std::uint8_t>(std::min(2 * entry.pause + 1, +kLongestPause));
        entry.left = entry.pause;
        entry.measures = false;
    } else if (entry.left > 0) {
        --entry.left;
    } else {
        entry.measures = true;
    }
}

} // namespace sennit::omp
