// SPDX-License-Identifier: Apache-2.0
// A ring of descriptors per team lets threads run ahead of each other by up to kRing nowait
// constructs. A descriptor belongs to construct number `turn`: the first thread that comes sets it
// up, the last one that leaves passes it on to construct turn + kRing.
//
// How a thread gets its pieces (Plan):
//   share     static: computed, nothing is shared
//   counter   monotonic dynamic: the next chunk is a shared counter
//   ranges    nonmonotonic dynamic: each thread has a range of chunks and steals when it is empty,
//   so
//             that a chunk waits behind a long, or suspended, iteration only until somebody is idle
//   guided    a shared iteration number
//   trapezoid the number of the next piece is a shared counter; its bounds are computed
//   whole     nonmonotonic dynamic for a team of one
// In the plan `ranges` the loop's final chunk belongs to nobody: it goes to a thread that finds
// nothing else, as its last piece, for compilers tell by a thread's last piece who has the value of
// lastprivate.
#include "omp/loops/worksharing.h"

#include "base/fence.h"
#include "base/message.h"
#include "omp/loops/doacross.h"
#include "omp/loops/stealable_range.h"
#include "omp/sync/wait_until.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sched.h>

namespace sennit::omp {
namespace {

constexpr std::uint32_t kRing = 8;

enum Setup : std::uint32_t { kFree, kBusy, kReady };
enum class Plan : std::uint8_t { share, counter, ranges, guided, trapezoid, whole };

struct alignas(kCacheLine) LoopState {
    std::atomic<std::uint32_t> turn{0};
    std::atomic<std::uint32_t> setup{kFree};
    Plan plan = Plan::share;
    bool ordered_loop = false;
    bool chunked = false;
    std::uint64_t count = 0;
    std::uint64_t chunk = 1;
    std::uint64_t multiple = 1; // of iterations in a guided piece
    std::uint64_t chunks = 0;
    std::uint64_t longest = 0; // trapezoid: the first piece; each next is shorter by `decrement`
    std::uint64_t decrement = 0;
    StealableRange *ranges = nullptr; // one a thread; none in a team of one
    std::atomic<std::uintptr_t> word{0};
    std::atomic<void *> memory{nullptr};
    // counter, trapezoid: next chunk; guided: next iteration; ranges: 1 once the final chunk is
    // given away
    alignas(kCacheLine) std::atomic<std::uint64_t> next{0};
    alignas(kCacheLine) std::atomic<std::uint64_t> ordered{0}; // first iteration that may go on
    std::atomic<int> parked{0};                                // threads that wait for `ordered`
    std::atomic<int> left{0};
};

} // namespace

struct Workshares {
    std::atomic<std::uint32_t> singles{0}; // `single` constructs that found their thread
    LoopState ring[kRing];
};

Workshares *make_workshares(int threads) {
    const std::size_t each = threads > 1 ? static_cast<std::size_t>(threads) : 0;
    const std::size_t size = sizeof(Workshares) + kRing * each * sizeof(StealableRange);
    void *memory = std::aligned_alloc(alignof(Workshares), size);
    if (!memory)
        fatal("no memory for a team's worksharing state (%zu bytes)", size);
    auto *workshares = new (memory) Workshares;
    auto *range = reinterpret_cast<StealableRange *>(workshares + 1);
    for (std::uint32_t i = 0; i < kRing; ++i) {
        workshares->ring[i].turn.store(i, std::memory_order_relaxed);
        workshares->ring[i].ranges = each ? range : nullptr;
        for (std::size_t thread = 0; thread < each; ++thread)
            new (range++) StealableRange;
    }
    return workshares;
}

void drop_workshares(Workshares *workshares) {
    std::free(workshares);
}

void reset_workshares(Team &team) {
    Workshares &state = *team.workshares;
    doacross_reset(team);
    state.singles.store(0, std::memory_order_relaxed);
    // Every thread of the region before met the same constructs, so thread 0 knows what was used,
    // unless the region was cancelled.
    const bool cancelled = team.cancelled.load(std::memory_order_relaxed);
    const std::uint32_t used = cancelled ? kRing : std::min(team.member(0).work.begun, kRing);
    for (std::uint32_t i = 0; i < used; ++i) {
        if (cancelled)
            std::free(state.ring[i].memory.exchange(nullptr, std::memory_order_relaxed));
        state.ring[i].turn.store(i, std::memory_order_relaxed);
        state.ring[i].setup.store(kFree, std::memory_order_relaxed);
    }
}

namespace {

LoopState &state_of(Member &member) {
    return *static_cast<LoopState *>(member.work.loop);
}

// Chunk number `chunk` as iterations.
void give_chunk(const LoopState &state, std::uint64_t chunk, std::uint64_t *first,
                std::uint64_t *last) {
    *first = chunk * state.chunk;
    *last = chunk + 1 == state.chunks ? state.count : *first + state.chunk;
}

// OpenMP 5.2, 11.5.3: without a chunk the iterations are divided into one piece a thread.
bool next_share(Member &member, const LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    const std::uint64_t position = member.work.position++;
    if (!state.chunked) {
        if (position != 0)
            return false;
        static_share(state.count, member.group->size, member.index, first, last);
        return *first < *last;
    }
    const auto threads = static_cast<std::uint64_t>(member.group->size);
    const std::uint64_t chunk = static_cast<std::uint64_t>(member.index) + threads * position;
    if (chunk >= state.chunks)
        return false;
    give_chunk(state, chunk, first, last);
    return true;
}

bool next_of_counter(LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    // The load keeps the counter from running away, and its cache line shared, at the end.
    if (state.next.load(std::memory_order_relaxed) >= state.chunks)
        return false;
    const std::uint64_t chunk = state.next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= state.chunks)
        return false;
    give_chunk(state, chunk, first, last);
    return true;
}

// Does the owner finish `range` within a microsecond, or when it gets the processor? Then a theft
// would cost both more than it gains.
bool drains_at_once(const StealableRange &range) {
    if (sched::crowded()) {
        if (!sched::processors_wanted())
            sched::yield_processor();
    } else {
        for (const std::uint64_t end = ticks() + sched::ticks_per_us(); ticks() < end;) {
            if (range.left() == 0)
                return true;
            cpu_relax();
        }
    }
    return range.left() == 0;
}

// Half of the longest range becomes this thread's; false when all are empty.
bool steal_chunks(const Member &member, const LoopState &state) {
    for (;;) {
        StealableRange *victim = nullptr;
        std::uint64_t most = 0;
        for (int i = 0; i < member.group->size; ++i) {
            const std::uint64_t left = state.ranges[i].left();
            if (i != member.index && left > most) {
                most = left;
                victim = &state.ranges[i];
            }
        }
        if (!victim)
            return false;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        if (drains_at_once(*victim) || !victim->steal_half(&first, &last))
            continue;
        state.ranges[member.index].refill(first, last);
        return true;
    }
}

bool next_of_ranges(Member &member, LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    std::uint64_t chunk = 0;
    if (SENNIT_LIKELY(state.ranges[member.index].take(&chunk))) {
        give_chunk(state, chunk, first, last);
        return true;
    }
    if (member.work.position != 0) // had the final chunk
        return false;
    if (state.count != 0 && steal_chunks(member, state))
        return next_of_ranges(member, state, first, last);
    if (state.count == 0 || state.next.load(std::memory_order_relaxed) != 0 ||
        state.next.exchange(1, std::memory_order_relaxed) != 0)
        return false;
    member.work.position = 1;
    give_chunk(state, state.chunks - 1, first, last);
    return true;
}

// At most all ones: the result is the length of a piece.
std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
    std::uint64_t up = 0;
    return __builtin_add_overflow(value, multiple - 1, &up) ? ~std::uint64_t{0}
                                                            : up / multiple * multiple;
}

bool next_guided(Member &member, LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    const auto threads = static_cast<std::uint64_t>(member.group->size);
    std::uint64_t start = state.next.load(std::memory_order_relaxed);
    std::uint64_t end = 0;
    do {
        if (start >= state.count)
            return false;
        const std::uint64_t rest = state.count - start;
        const std::uint64_t share = std::max(rest / threads + (rest % threads != 0), state.chunk);
        const std::uint64_t size =
            state.multiple > 1 ? round_up(share, state.multiple) : share; // no division as a rule
        end = size < rest ? start + size : state.count;
    } while (!state.next.compare_exchange_weak(start, end, std::memory_order_relaxed));
    *first = start;
    *last = end;
    return true;
}

// Trapezoid self-scheduling (Tzen and Ni, 1993): pieces get shorter by the same amount each, from
// half a fair share down to the chunk.
void set_up_trapezoid(LoopState &state, int threads) {
    const auto shares = 2 * static_cast<std::uint64_t>(threads);
    state.longest = std::max(state.count / shares + (state.count % shares != 0), state.chunk);
    __extension__ using Wide = unsigned __int128;
    const Wide both_ends = Wide{state.longest} + state.chunk;
    state.chunks = static_cast<std::uint64_t>(Wide{state.count} * 2 / both_ends) + 1;
    state.decrement = state.chunks > 1 ? (state.longest - state.chunk) / (state.chunks - 1) : 0;
}

bool next_of_trapezoid(LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    // Where piece number `n` begins.
    auto begin = [&](std::uint64_t n) {
        __extension__ using Wide = unsigned __int128;
        const Wide at = Wide{n} * state.longest - Wide{state.decrement} * n * (n - 1) / 2;
        return at < state.count ? static_cast<std::uint64_t>(at) : state.count;
    };
    const std::uint64_t n = state.next.fetch_add(1, std::memory_order_relaxed);
    // Rounding may leave a rest behind the last piece, which belongs to it.
    if (n >= state.chunks || (*first = begin(n)) >= state.count)
        return false;
    *last = n + 1 == state.chunks ? state.count : begin(n + 1);
    return true;
}

bool next_whole(Member &member, const LoopState &state, std::uint64_t *first, std::uint64_t *last) {
    *first = 0;
    *last = state.count;
    return member.work.position++ == 0 && state.count != 0;
}

Plan plan_of(const LoopSchedule &schedule, int threads) {
    switch (schedule.kind) {
    case Sched::dynamic:
        if (schedule.monotonic || schedule.ordered)
            return Plan::counter;
        return threads > 1 ? Plan::ranges : Plan::whole;
    case Sched::guided:
        return Plan::guided;
    case Sched::trapezoidal:
        return schedule.multiple > 1 ? Plan::guided : Plan::trapezoid;
    default:
        return Plan::share; // static, auto
    }
}

void set_up(LoopState &state, std::uint64_t count, const LoopSchedule &schedule, int threads) {
    state.plan = plan_of(schedule, threads);
    state.ordered_loop = schedule.ordered;
    state.chunked = schedule.chunk != 0;
    state.count = count;
    state.chunk = std::max<std::uint64_t>(schedule.chunk, 1);
    state.multiple = schedule.multiple;
    if (schedule.multiple > 1 && !state.chunked && state.plan == Plan::share && count > 0) {
        const auto n = static_cast<std::uint64_t>(threads);
        state.chunked = true;
        state.chunk = round_up(count / n + (count % n != 0), schedule.multiple);
    }
    state.chunks = count == 0 ? 0 : (count - 1) / state.chunk + 1;
    if (state.plan == Plan::trapezoid)
        set_up_trapezoid(state, threads);
    state.next.store(0, std::memory_order_relaxed);
    state.ordered.store(0, std::memory_order_relaxed);
    state.left.store(0, std::memory_order_relaxed);
    state.word.store(0, std::memory_order_relaxed);
    if (state.plan != Plan::ranges)
        return;
    const std::uint64_t shared_out = count == 0 ? 0 : state.chunks - 1; // all but the final chunk
    for (int thread = 0; thread < threads; ++thread) {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        static_share(shared_out, threads, thread, &first, &last);
        state.ranges[thread].assign(first, last);
    }
}

// ---- ordered --------------------------------------------------------------------------------

// The thread's turn in an ordered loop: all iterations before its piece have left the region.
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
        return state_.ordered.load(std::memory_order_acquire) >= first_ ||
               member_.team->cancelled.load(std::memory_order_seq_cst);
    }
    const LoopState &state_;
    const std::uint64_t first_;
};

void wait_for_turn(sched::Worker &worker, Member &member, LoopState &state) {
    OrderedTurn turn(member, state);
    for (int left = sched::crowded() ? 0 : kTurnSpins; left > 0 && !turn.done(); --left)
        cpu_relax();
    while (!turn.done()) { // a wake-up may have been meant for a gate
        worker.wait(turn);
        turn.finish();
    }
}

// The iterations before `to` are through; wake the thread that has `to`, if it sleeps.
void advance(Member &member, LoopState &state, std::uint64_t to) {
    state.ordered.store(to, std::memory_order_release);
    fence_light(); // pairs with fence_heavy in OrderedTurn: one of the two sees the other
    if (state.parked.load(std::memory_order_relaxed) == 0)
        return;
    for (int i = 0; i < member.group->size; ++i) {
        Member &other = member.team->member(i);
        if (other.work.ordered_first.load(std::memory_order_relaxed) == to)
            other.cell.signal_if_armed();
    }
}

// The thread's last piece, whose turn it is, is over: who comes next in an ordered loop may go on.
void pass_turn_on(Member &member, LoopState &state) {
    MemberWorkshares &mine = member.work;
    mine.ordered_first.store(mine.ordered_last, std::memory_order_relaxed);
    advance(member, state, mine.ordered_last);
}

// The same where the piece may have had no ordered region that waited for the turn.
void end_ordered_piece(sched::Worker &worker, Member &member, LoopState &state) {
    const MemberWorkshares &mine = member.work;
    if (mine.ordered_last == mine.ordered_first.load(std::memory_order_relaxed))
        return;
    wait_for_turn(worker, member, state);
    pass_turn_on(member, state);
}

} // namespace

void static_share(std::uint64_t count, int threads, int thread, std::uint64_t *first,
                  std::uint64_t *last) {
    const auto n = static_cast<std::uint64_t>(threads);
    const auto i = static_cast<std::uint64_t>(thread);
    const std::uint64_t each = count / n;
    const std::uint64_t longer = count % n;
    *first = i * each + std::min(i, longer);
    *last = *first + each + (i < longer ? 1 : 0);
}

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
    LoopState &state = member.team->workshares->ring[construct % kRing];
    member.work.position = 0;
    member.work.ordered_first.store(0, std::memory_order_relaxed);
    member.work.ordered_last = 0;
    if (state.turn.load(std::memory_order_acquire) != construct) {
        const std::atomic<bool> &cancelled = member.team->cancelled;
        wait_until(worker, [&] {
            return state.turn.load(std::memory_order_acquire) == construct ||
                   cancelled.load(std::memory_order_relaxed);
        });
        if (cancelled.load(std::memory_order_relaxed))
            return; // who should pass the descriptor on may have left; no iterations for us
    }
    member.work.loop = &state;
    std::uint32_t expected = kFree;
    if (state.setup.load(std::memory_order_relaxed) == kFree &&
        state.setup.compare_exchange_strong(expected, kBusy, std::memory_order_relaxed)) {
        set_up(state, count, schedule, member.group->size);
        // release pairs with the others' acquire below.
        state.setup.store(kReady, std::memory_order_release);
        return;
    }
    if (state.setup.load(std::memory_order_acquire) != kReady)
        wait_until(worker, [&] { return state.setup.load(std::memory_order_acquire) == kReady; });
}

bool loop_next(sched::Worker &worker, std::uint64_t *first, std::uint64_t *last) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return false;
    LoopState &state = state_of(member);
    if (SENNIT_UNLIKELY(state.ordered_loop))
        end_ordered_piece(worker, member, state);
    bool found = false;
    switch (state.plan) {
    case Plan::share:
        found = next_share(member, state, first, last);
        break;
    case Plan::counter:
        found = next_of_counter(state, first, last);
        break;
    case Plan::ranges:
        return next_of_ranges(member, state, first, last);
    case Plan::guided:
        found = next_guided(member, state, first, last);
        break;
    case Plan::trapezoid:
        found = next_of_trapezoid(state, first, last);
        break;
    case Plan::whole:
        found = next_whole(member, state, first, last);
        break;
    }
    if (SENNIT_UNLIKELY(state.ordered_loop) && found) {
        member.work.ordered_last = *last;
        member.work.ordered_first.store(*first, std::memory_order_relaxed);
    }
    return found;
}

void loop_end(sched::Worker &worker) {
    Member &member = member_of(worker);
    if (!member.work.loop)
        return;
    LoopState &state = state_of(member);
    if (state.ordered_loop)
        end_ordered_piece(worker, member, state);
    member.work.loop = nullptr;
    // acq_rel: the last one's recycling comes after everybody's use.
    if (state.left.fetch_add(1, std::memory_order_acq_rel) + 1 < member.group->size)
        return;
    std::free(state.memory.exchange(nullptr, std::memory_order_relaxed));
    state.setup.store(kFree, std::memory_order_relaxed);
    state.turn.store(state.turn.load(std::memory_order_relaxed) + kRing, std::memory_order_release);
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

// An iteration has one ordered region at most, so the end of it ends a piece of one iteration; the
// next thread need not wait for the rest of the body. For longer pieces see end_ordered_piece.
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
    std::atomic<std::uint32_t> &singles = member.team->workshares->singles;
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

} // namespace sennit::omp
