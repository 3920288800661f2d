// SPDX-License-Identifier: Apache-2.0
#include "openmp/loops/worksharing.h"

#include "base/fence.h"
#include "base/message.h"
#include "openmp/env/split.h"
#include "openmp/loops/constructs.h"
#include "openmp/loops/exposed.h"
#include "openmp/loops/plans.h"
#include "openmp/sync/regions.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace sennit::omp {
namespace {

LoopState &state_of(Member &member) {
    return *static_cast<LoopState *>(member.work.loop);
}

void set_up(LoopState &state, std::uint64_t count, const LoopSchedule &schedule,
            const Member &member) {
    const Team &team = *member.team;
    state.ordered_from.store(0, std::memory_order_relaxed);
    state.left.store(0, std::memory_order_relaxed);
    state.word.store(0, std::memory_order_relaxed);
    state.workers = 0;
    if (SENNIT_UNLIKELY(team.threads != nullptr)) {
        state.workers = team.is_inner() ? 0 : team.workers;
        LoopHistory *const history = history_of(team);
        if (history && begin_exposed(state, *history, count, schedule, member))
            return;
    }
    begin_loop(state, count, schedule, team.size);
}

// ---- ordered --------------------------------------------------------------------------------

// It is the thread's turn in an ordered loop when all iterations before its piece have left the
// region.
class OrderedTurn final : public MemberCondition {
  public:
    OrderedTurn(Member &member, LoopState &state)
        : MemberCondition(member, state.parked, sched::WaitFor::turn, nullptr), state_(state),
          first_(member.work.ordered_first.load(std::memory_order_relaxed)) {}
    bool done() override { return come(); }
    bool holds() const override {
        fence_heavy(); // pairs with fence_light in advance()
        return come();
    }

  private:
    bool come() const {
        return state_.ordered_from.load(std::memory_order_acquire) >= first_ ||
               member_.team->cancelled.load(std::memory_order_seq_cst);
    }
    const LoopState &state_;
    const std::uint64_t first_;
};

void wait_for_turn(sched::Worker &worker, Member &member, LoopState &state) {
    OrderedTurn turn(member, state);
    if (spin_until(worker, [&] { return turn.done(); }))
        return;
    while (!turn.done()) { // a wake-up may have been meant for a gate
        worker.wait(turn);
        turn.finish();
    }
}

// The iterations before `to` are through. If the thread that has `to` sleeps, wake it.
void advance(Member &member, LoopState &state, std::uint64_t to) {
    state.ordered_from.store(to, std::memory_order_release);
    fence_light(); // pairs with fence_heavy in OrderedTurn: one of the two sees the other
    if (state.parked.load(std::memory_order_relaxed) == 0)
        return;
    for (int i = 0; i < member.group->size; ++i) {
        Member &other = member.team->member(i);
        if (other.work.ordered_first.load(std::memory_order_relaxed) == to)
            other.cell.signal_if_armed();
    }
}

// The thread's last piece had its turn and is over. The next thread of an ordered loop may go on.
void pass_turn_on(Member &member, LoopState &state) {
    MemberWorkshares &mine = member.work;
    mine.ordered_first.store(mine.ordered_last, std::memory_order_relaxed);
    advance(member, state, mine.ordered_last);
}

// The same for a piece that may have had no ordered region which waited for the turn.
void end_ordered_piece(sched::Worker &worker, Member &member, LoopState &state) {
    const MemberWorkshares &mine = member.work;
    if (mine.ordered_last == mine.ordered_first.load(std::memory_order_relaxed))
        return;
    wait_for_turn(worker, member, state);
    pass_turn_on(member, state);
}

} // namespace

LoopSchedule runtime_schedule(sched::Worker &worker) {
    const Icvs &icvs = *worker.task->icvs;
    LoopSchedule schedule;
    schedule.kind = icvs.schedule;
    if (icvs.schedule != Sched::automatic)
        schedule.chunk = static_cast<std::uint64_t>(icvs.chunk);
    schedule.monotonic = icvs.schedule_monotonic;
    return schedule;
}

void loop_begin(sched::Worker &worker, std::uint64_t count, const LoopSchedule &schedule) {
    Member &member = member_of(worker);
    if (SENNIT_UNLIKELY(member.work.loop != nullptr))
        loop_end(worker); // a cancelled loop that the compiler's code just left
    const std::uint32_t construct = member.work.begun++;
    LoopState &state = workshares_of(*member.team).ring[construct % Workshares::kRing];
    member.work.position = 0;
    member.work.ordered_first.store(0, std::memory_order_relaxed);
    member.work.ordered_last = 0;
    if (state.construct.load(std::memory_order_acquire) != construct) {
        const Atomic<bool> &cancelled = member.team->cancelled;
        wait_until(worker, [&] {
            return state.construct.load(std::memory_order_acquire) == construct ||
                   cancelled.load(std::memory_order_relaxed);
        });
        if (cancelled.load(std::memory_order_relaxed))
            return; // who should pass the descriptor on may have left; no iterations for us
    }
    member.work.loop = &state;
    std::uint32_t expected = LoopState::kFree;
    if (state.setup.load(std::memory_order_relaxed) == LoopState::kFree &&
        state.setup.compare_exchange_strong(expected, LoopState::kBusy,
                                            std::memory_order_relaxed)) {
        set_up(state, count, schedule, member);
        // release pairs with the others' acquire below.
        state.setup.store(LoopState::kReady, std::memory_order_release);
        return;
    }
    if (state.setup.load(std::memory_order_acquire) != LoopState::kReady)
        wait_until(worker, [&] {
            return state.setup.load(std::memory_order_acquire) == LoopState::kReady;
        });
}

bool loop_next(sched::Worker &worker, std::uint64_t *first, std::uint64_t *last) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return false;
    LoopState &state = state_of(member);
    if (SENNIT_LIKELY(!state.ordered))
        return state.plan->next(member, state, first, last);
    end_ordered_piece(worker, member, state);
    if (!state.plan->next(member, state, first, last))
        return false;
    member.work.ordered_last = *last;
    member.work.ordered_first.store(*first, std::memory_order_relaxed);
    return true;
}

void loop_end(sched::Worker &worker) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return;
    LoopState &state = state_of(member);
    if (state.ordered)
        end_ordered_piece(worker, member, state);
    member.work.loop = nullptr;
    // acq_rel: the last thread recycles it after all have used it.
    if (state.left.fetch_add(1, std::memory_order_acq_rel) + 1 < member.group->size)
        return;
    end_loop(state);
    std::free(state.memory.exchange(nullptr, std::memory_order_relaxed));
    state.setup.store(LoopState::kFree, std::memory_order_relaxed);
    state.construct.store(state.construct.load(std::memory_order_relaxed) + Workshares::kRing,
                          std::memory_order_release);
}

std::atomic<std::uintptr_t> &loop_shared_word(sched::Worker &worker) {
    return state_of(member_of(worker)).word;
}

void *loop_shared_memory(sched::Worker &worker, std::size_t size) {
    std::atomic<void *> &memory = state_of(member_of(worker)).memory;
    void *block = memory.load(std::memory_order_acquire);
    if (block)
        return block;
    void *mine = std::calloc(1, size);
    if (!mine)
        fatal("no memory for a worksharing construct (%zu bytes)", size);
    if (memory.compare_exchange_strong(block, mine, std::memory_order_acq_rel))
        return mine;
    std::free(mine);
    return block;
}

void ordered_begin(sched::Worker &worker) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return; // bound to no loop: a team of one thread in a serialized construct
    wait_for_turn(worker, member, state_of(member));
}

// An iteration has one ordered region at most. So the end of the region ends a piece of one
// iteration, and the next thread need not wait for the rest of the body. For longer pieces see
// end_ordered_piece.
void ordered_end(sched::Worker &worker) {
    Member &member = member_of(worker);
    const MemberWorkshares &mine = member.work;
    if (mine.loop && mine.ordered_last - mine.ordered_first.load(std::memory_order_relaxed) == 1)
        pass_turn_on(member, state_of(member));
}

bool single_begin(sched::Worker &worker) {
    Member &member = member_of(worker);
    std::uint32_t mine = member.work.singles++;
    if (member.group->size == 1)
        return true;
    std::atomic<std::uint32_t> &singles = workshares_of(*member.team).singles;
    return singles.load(std::memory_order_relaxed) == mine &&
           singles.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed);
}

void copyprivate_publish(sched::Worker &worker, void *data) {
    member_of(worker).team->copyprivate = data;
    barrier(worker); // the others may read
}

void *copyprivate_receive(sched::Worker &worker) {
    barrier(worker);
    return member_of(worker).team->copyprivate;
}

namespace {

// Of a loop that not all threads have left, because its region was cancelled.
void abandon(LoopState &state) {
    if (state.setup.load(std::memory_order_relaxed) == LoopState::kReady)
        end_loop(state);
    std::free(state.memory.exchange(nullptr, std::memory_order_relaxed));
}

void abandon(DoacrossShare &share) {
    if (share.setup.load(std::memory_order_relaxed) == DoacrossShare::kReady)
        std::free(share.shared);
}

} // namespace

// Two threads may come at the same time.
SENNIT_NOINLINE Workshares &make_workshares(Team &team) {
    const std::size_t each = team.size > 1 ? static_cast<std::size_t>(team.size) : 0;
    const bool exposes = team.threads && split_adapts() && !team.is_inner();
    const std::size_t history_at =
        sizeof(Workshares) + Workshares::kRing * each * sizeof(StealableRange);
    const std::size_t size = history_at + (exposes ? sizeof(LoopHistory) : 0);
    void *memory = std::aligned_alloc(alignof(Workshares), size + -size % alignof(Workshares));
    if (!memory)
        fatal("no memory for a team's worksharing state (%zu bytes)", size);
    auto *made = new (memory) Workshares;
    auto *range = reinterpret_cast<StealableRange *>(made + 1);
    for (std::uint32_t i = 0; i < Workshares::kRing; ++i) {
        made->ring[i].construct.store(i, std::memory_order_relaxed);
        made->ring[i].ranges = each ? range : nullptr;
        for (std::size_t thread = 0; thread < each; ++thread)
            new (range++) StealableRange;
    }
    for (std::uint32_t i = 0; i < Workshares::kDoacrossRing; ++i)
        made->doacross[i].loop.store(i, std::memory_order_relaxed);
    if (exposes)
        made->loops = new (static_cast<std::byte *>(memory) + history_at) LoopHistory;
    TeamExtension *before = nullptr;
    // release pairs with the acquire of workshares_of.
    if (team.workshares.compare_exchange_strong(before, made, std::memory_order_acq_rel))
        return *made;
    std::free(made);
    return *static_cast<Workshares *>(before);
}

// In the region before, all threads met the same constructs, unless it was cancelled. So thread 0
// knows what was used.
void Workshares::reset(Team &team) {
    const MemberWorkshares &work = team.member(0).work;
    const bool cancelled = team.cancelled.load(std::memory_order_relaxed);
    singles.store(0, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < (cancelled ? kRing : std::min(work.begun, kRing)); ++i) {
        if (cancelled)
            abandon(ring[i]);
        ring[i].construct.store(i, std::memory_order_relaxed);
        ring[i].setup.store(LoopState::kFree, std::memory_order_relaxed);
    }
    const std::uint32_t nests =
        cancelled ? kDoacrossRing : std::min(work.doacross_begun, kDoacrossRing);
    for (std::uint32_t i = 0; i < nests; ++i) {
        abandon(doacross[i]);
        doacross[i].setup.store(DoacrossShare::kFree, std::memory_order_relaxed);
        doacross[i].left.store(0, std::memory_order_relaxed);
        doacross[i].loop.store(i, std::memory_order_relaxed);
    }
}

void Workshares::drop() {
    for (LoopState &state : ring)
        abandon(state);
    for (DoacrossShare &share : doacross)
        abandon(share);
    std::free(this);
}

struct Doacross {
    int loops;
    DoacrossLoop *nest;                 // behind this head
    std::atomic<std::uint64_t> *posted; // behind the nest, a bit an iteration of the whole nest

    // The number of an iteration in sequential order; false outside of the space.
    bool number(const std::int64_t *vector, std::uint64_t *number) const {
        std::uint64_t linear = 0;
        for (int i = 0; i < loops; ++i) {
            const DoacrossLoop &loop = nest[i];
            const std::int64_t distance = vector[i] - loop.first;
            if (distance % loop.step != 0)
                return false;
            const std::int64_t at = distance / loop.step;
            if (at < 0 || static_cast<std::uint64_t>(at) >= loop.count)
                return false;
            linear = linear * loop.count + static_cast<std::uint64_t>(at);
        }
        *number = linear;
        return true;
    }
};

namespace {

Doacross *make(int loops, const DoacrossLoop *nest) {
    std::uint64_t iterations = 1;
    bool too_many = false;
    for (int i = 0; i < loops; ++i)
        too_many |= __builtin_mul_overflow(iterations, nest[i].count, &iterations);
    const std::uint64_t words = iterations / 64 + 1;
    const std::size_t head = sizeof(Doacross) + static_cast<std::size_t>(loops) * sizeof *nest;
    void *memory = too_many ? nullptr : std::calloc(1, head + words * sizeof(std::uint64_t));
    if (!memory)
        fatal("no memory for the dependences between %llu iterations of an ordered(n) loop: a bit "
              "each is needed",
              static_cast<unsigned long long>(iterations));
    auto *made = static_cast<Doacross *>(memory);
    made->loops = loops;
    made->nest = reinterpret_cast<DoacrossLoop *>(made + 1);
    for (int i = 0; i < loops; ++i)
        made->nest[i] = nest[i];
    made->posted = reinterpret_cast<std::atomic<std::uint64_t> *>(made->nest + loops);
    return made;
}

} // namespace

void doacross_begin(sched::Worker &worker, int loops, const DoacrossLoop *nest) {
    Member &member = member_of(worker);
    Team &team = *member.team;
    if (team.size == 1)
        return;
    const std::uint32_t loop = member.work.doacross_begun++;
    DoacrossShare &share = workshares_of(team).doacross[loop % Workshares::kDoacrossRing];
    wait_until(worker, [&] {
        return share.loop.load(std::memory_order_acquire) == loop ||
               team.cancelled.load(std::memory_order_relaxed);
    });
    if (share.loop.load(std::memory_order_acquire) != loop)
        return; // cancelled: no iterations for us
    int before = DoacrossShare::kFree;
    if (share.setup.compare_exchange_strong(before, DoacrossShare::kBusy,
                                            std::memory_order_relaxed)) {
        share.shared = make(loops, nest);
        // release pairs with the others' acquire below.
        share.setup.store(DoacrossShare::kReady, std::memory_order_release);
    } else {
        wait_until(worker, [&] {
            return share.setup.load(std::memory_order_acquire) == DoacrossShare::kReady;
        });
    }
    member.work.doacross = &share;
}

void doacross_end(sched::Worker &worker) {
    Member &member = member_of(worker);
    DoacrossShare *share = member.work.doacross;
    if (!share)
        return;
    member.work.doacross = nullptr;
    // acq_rel: the last thread recycles it after all have used it.
    if (share->left.fetch_add(1, std::memory_order_acq_rel) + 1 < member.team->size)
        return;
    std::free(share->shared);
    share->left.store(0, std::memory_order_relaxed);
    share->setup.store(DoacrossShare::kFree, std::memory_order_relaxed);
    share->loop.store(share->loop.load(std::memory_order_relaxed) + Workshares::kDoacrossRing,
                      std::memory_order_release);
}

int doacross_loops(sched::Worker &worker) {
    const DoacrossShare *share = member_of(worker).work.doacross;
    return share ? share->shared->loops : 0;
}

void doacross_post(sched::Worker &worker, const std::int64_t *vector) {
    const DoacrossShare *share = member_of(worker).work.doacross;
    if (ompt::on() && share)
        tell_iteration(vector, share->shared->loops, ompt::kDependSource);
    std::uint64_t number = 0;
    if (!share || !share->shared->number(vector, &number))
        return;
    // release: a thread that finds the bit sees what the iteration wrote.
    share->shared->posted[number / 64].fetch_or(std::uint64_t{1} << (number % 64),
                                                std::memory_order_release);
}

void doacross_wait(sched::Worker &worker, const std::int64_t *vector) {
    const DoacrossShare *share = member_of(worker).work.doacross;
    std::uint64_t number = 0;
    if (!share || !share->shared->number(vector, &number))
        return;
    const std::atomic<std::uint64_t> &word = share->shared->posted[number / 64];
    if (ompt::on())
        tell_iteration(vector, share->shared->loops, ompt::kDependSink);
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    const Atomic<bool> &cancelled = member_of(worker).team->cancelled;
    wait_until(worker, [&] {
        return (word.load(std::memory_order_acquire) & bit) != 0 ||
               cancelled.load(std::memory_order_relaxed);
    });
}

} // namespace sennit::omp
