// SPDX-License-Identifier: Apache-2.0
// The plans of OpenMP's schedules (OpenMP 5.2, 11.5.3). Their state is in the Loop and in the
// member's `position`.
#include "openmp/loops/plans.h"

#include "openmp/loops/lent.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/worker.h"

#include <algorithm>

namespace sennit::omp {
namespace {

// On overflow all ones, for the result is the length of a piece.
std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
    std::uint64_t up = 0;
    return __builtin_add_overflow(value, multiple - 1, &up) ? ~std::uint64_t{0}
                                                            : up / multiple * multiple;
}

// Without chunks each thread has one piece. With chunks it has every n-th one. `position`: how many
// pieces it had.
class Share final : public Plan {
  public:
    void begin(Loop &loop, int threads) const override {
        if (loop.multiple <= 1 || loop.chunked || loop.count == 0)
            return;
        const auto n = static_cast<std::uint64_t>(threads);
        loop.chunked = true;
        loop.chunk = round_up(loop.count / n + (loop.count % n != 0), loop.multiple);
        loop.chunks = (loop.count - 1) / loop.chunk + 1;
    }
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        const std::uint64_t position = member.work.position++;
        if (!loop.chunked) {
            if (position != 0)
                return false;
            static_share(loop.count, member.group->size, member.index, first, last);
            return *first < *last;
        }
        const auto threads = static_cast<std::uint64_t>(member.group->size);
        const std::uint64_t chunk = static_cast<std::uint64_t>(member.index) + threads * position;
        if (chunk >= loop.chunks)
            return false;
        loop.give_chunk(chunk, first, last);
        return true;
    }
};

class Counter final : public Plan {
  public:
    bool next(Member &, Loop &loop, std::uint64_t *first, std::uint64_t *last) const override {
        // The load keeps the counter from running away at the end. It also keeps its cache line
        // shared there.
        if (loop.next.load(std::memory_order_relaxed) >= loop.chunks)
            return false;
        const std::uint64_t chunk = loop.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= loop.chunks)
            return false;
        loop.give_chunk(chunk, first, last);
        return true;
    }
};

// A chunk waits behind a long, or suspended, iteration only until somebody is idle.
class Steal final : public Plan {
  public:
    void begin(Loop &loop, int threads) const override {
        const std::uint64_t shared_out = loop.count == 0 ? 0 : loop.chunks - 1;
        // In a virtual team each worker has a share. With a share for each thread, a worker would
        // spend its time on stealing from its own threads.
        const int sharers = loop.workers > 0 ? loop.workers : threads;
        for (int thread = 0; sharers < threads && thread < threads; ++thread)
            loop.ranges[thread].assign(0, 0);
        for (int sharer = 0; sharer < sharers; ++sharer) {
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            static_share(shared_out, sharers, sharer, &first, &last);
            const std::int64_t thread = std::int64_t{threads} * sharer / sharers;
            loop.ranges[thread].assign(first, last);
        }
    }
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        std::uint64_t chunk = 0;
        if (SENNIT_LIKELY(loop.ranges[member.index].take(&chunk))) {
            loop.give_chunk(chunk, first, last);
            return true;
        }
        return next_of_others(member, loop, first, last);
    }

    static SENNIT_NOINLINE bool next_of_others(Member &member, Loop &loop, std::uint64_t *first,
                                               std::uint64_t *last) {
        std::uint64_t chunk = 0;
        if (member.work.position != 0 || loop.count == 0)
            return false;
        while (take_over(member, loop))
            if (loop.ranges[member.index].take(&chunk)) {
                loop.give_chunk(chunk, first, last);
                return true;
            }
        return give_final_chunk(member, loop, first, last);
    }
};

class Whole final : public Plan {
  public:
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        *first = 0;
        *last = loop.count;
        return member.work.position++ == 0 && loop.count != 0;
    }
};

class Guided final : public Plan {
  public:
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        const auto threads = static_cast<std::uint64_t>(member.group->size);
        std::uint64_t start = loop.next.load(std::memory_order_relaxed);
        std::uint64_t end = 0;
        do {
            if (start >= loop.count)
                return false;
            const std::uint64_t rest = loop.count - start;
            const std::uint64_t share =
                std::max(rest / threads + (rest % threads != 0), loop.chunk);
            const std::uint64_t size =
                loop.multiple > 1 ? round_up(share, loop.multiple) : share; // no division as a rule
            end = size < rest ? start + size : loop.count;
        } while (!loop.next.compare_exchange_weak(start, end, std::memory_order_relaxed));
        *first = start;
        *last = end;
        return true;
    }
};

// Trapezoid self-scheduling (Tzen and Ni, 1993): pieces get shorter by the same amount each, from
// half a fair share down to the chunk.
class Trapezoid final : public Plan {
  public:
    __extension__ using Wide = unsigned __int128;

    void begin(Loop &loop, int threads) const override {
        const auto shares = 2 * static_cast<std::uint64_t>(threads);
        loop.longest = std::max(loop.count / shares + (loop.count % shares != 0), loop.chunk);
        const Wide both_ends = Wide{loop.longest} + loop.chunk;
        loop.chunks = static_cast<std::uint64_t>(Wide{loop.count} * 2 / both_ends) + 1;
        loop.decrement = loop.chunks > 1 ? (loop.longest - loop.chunk) / (loop.chunks - 1) : 0;
    }
    bool next(Member &, Loop &loop, std::uint64_t *first, std::uint64_t *last) const override {
        // Where piece number `n` begins.
        auto begin = [&](std::uint64_t n) {
            const Wide at = Wide{n} * loop.longest - Wide{loop.decrement} * n * (n - 1) / 2;
            return at < loop.count ? static_cast<std::uint64_t>(at) : loop.count;
        };
        const std::uint64_t n = loop.next.fetch_add(1, std::memory_order_relaxed);
        // Rounding may leave a rest behind the last piece. The rest belongs to that piece.
        if (n >= loop.chunks || (*first = begin(n)) >= loop.count)
            return false;
        *last = n + 1 == loop.chunks ? loop.count : begin(n + 1);
        return true;
    }
};

// If processes share cores: a thread that is to leave its core does so between two pieces.
template <class P>
class Leaving final : public Plan {
  public:
    void begin(Loop &loop, int threads) const override { plan_.begin(loop, threads); }
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        sched::Worker::here().seat.pass_chunk();
        return plan_.next(member, loop, first, last);
    }

  private:
    P plan_;
};

constexpr Share kShare;
constexpr Counter kCounter;
constexpr Steal kSteal;
constexpr Whole kWhole;
constexpr Guided kGuided;
constexpr Trapezoid kTrapezoid;

// Relaxed, for what a planner points to is there from the start. A loop takes its plan once.
constinit std::atomic<Planner *> g_planner{nullptr};

template <class P>
const Plan *leaving_or(const P &plan) {
    static constexpr Leaving<P> leaving;
    return SENNIT_LIKELY(!sched::shares_cores()) ? static_cast<const Plan *>(&plan) : &leaving;
}

// The plan's own type is known here. So the call can be inlined.
template <class P>
void begin(const P &plan, Loop &loop, int threads) {
    loop.plan = leaving_or(plan);
    plan.begin(loop, threads);
}

// Of the schedules, `dynamic` alone lets pieces descend: by stealing. All others are as they are.
class Ascending final : public Planner {
  public:
    const Plan *plan_for(const LoopSchedule &schedule, std::uint64_t, int threads) override {
        return schedule.kind == Sched::dynamic && threads > 1 ? leaving_or(kCounter) : nullptr;
    }
};

constinit Ascending g_ascending;

void begin_as_scheduled(Loop &loop, const LoopSchedule &schedule, int threads) {
    switch (schedule.kind) {
    case Sched::dynamic:
        if (schedule.monotonic || schedule.ordered)
            return begin(kCounter, loop, threads);
        return threads > 1 ? begin(kSteal, loop, threads) : begin(kWhole, loop, threads);
    case Sched::guided:
        return begin(kGuided, loop, threads);
    case Sched::trapezoidal:
        return schedule.multiple > 1 ? begin(kGuided, loop, threads)
                                     : begin(kTrapezoid, loop, threads);
    default:
        return begin(kShare, loop, threads); // static, auto
    }
}

} // namespace

bool give_final_chunk(Member &member, Loop &loop, std::uint64_t *first, std::uint64_t *last) {
    if (member.work.position != 0 || loop.next.load(std::memory_order_relaxed) != 0 ||
        loop.next.exchange(1, std::memory_order_relaxed) != 0)
        return false;
    member.work.position = 1;
    loop.give_chunk(loop.chunks - 1, first, last);
    return true;
}

void begin_loop(Loop &loop, std::uint64_t count, const LoopSchedule &schedule, int threads) {
    loop.describe(count, schedule);
    if (SENNIT_UNLIKELY(schedule.lent != nullptr))
        return schedule.lent->begin(loop, threads);
    if (Planner *const planner = g_planner.load(std::memory_order_relaxed);
        SENNIT_UNLIKELY(planner != nullptr))
        if (const Plan *plan = planner->plan_for(schedule, count, threads)) {
            loop.plan = plan;
            return plan->begin(loop, threads);
        }
    begin_as_scheduled(loop, schedule, threads);
}

void set_planner(Planner *planner) {
    g_planner.store(planner, std::memory_order_relaxed);
}

void let_loops_ascend() {
    set_planner(&g_ascending);
}
bool loops_ascend() {
    return g_planner.load(std::memory_order_relaxed) == &g_ascending;
}

} // namespace sennit::omp
