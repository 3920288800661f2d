// SPDX-License-Identifier: Apache-2.0
#include "openmp/loops/lent.h"

#include "base/message.h"
#include "base/spin.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/worker.h"

#include <algorithm>
#include <new>

namespace sennit::omp {
namespace {

// `own` is the LentLoop. `next` is 1 once somebody has taken over something.
class Lent final : public Plan {
  public:
    void begin(Loop &loop, int threads) const override {
        for (int thread = 0; thread < threads; ++thread) {
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            static_share(loop.count, threads, thread, &first, &last);
            loop.ranges[thread].assign(first, last);
        }
    }
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        StealableRange &mine = loop.ranges[member.index];
        const std::uint64_t now = ticks();
        const std::uint64_t us = (now - member.work.piece_began) / sched::ticks_per_us();
        do {
            const std::uint64_t piece = next_lent_piece(member.work.position, us, mine.left());
            if (const std::uint64_t count = mine.take_some(piece, first)) {
                *last = *first + count;
                member.work.position = count;
                member.work.piece_began = now;
                return true;
            }
        } while (take_from_others(member, loop));
        return false;
    }
    void end(Loop &loop) const override {
        static_cast<LentLoop *>(loop.own)->end(loop.next.load(std::memory_order_relaxed) != 0);
    }

  private:
    static SENNIT_NOINLINE bool take_from_others(Member &member, Loop &loop) {
        if (!take_over(member, loop))
            return false;
        loop.next.store(1, std::memory_order_relaxed);
        return true;
    }
};

// As a static loop that is not let go.
class Kept final : public Plan {
  public:
    bool next(Member &member, Loop &loop, std::uint64_t *first,
              std::uint64_t *last) const override {
        if (member.work.position++ != 0)
            return false;
        static_share(loop.count, member.group->size, member.index, first, last);
        return *first < *last;
    }
};

constexpr Lent kLent;
constexpr Kept kKept;

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// Does the owner finish `range` within a microsecond, or when it gets the processor? Then a theft
// would cost both threads more than it gains.
bool drains_at_once(const StealableRange &range) {
    if (sched::crowded()) {
        if (!sched::processors_wanted())
            sched::Worker::here().thread.yield();
    } else {
        for (const std::uint64_t end = ticks() + sched::ticks_per_us(); ticks() < end;) {
            if (range.left() == 0)
                return true;
            cpu_relax();
        }
    }
    return range.left() == 0;
}

} // namespace

std::uint64_t next_lent_piece(std::uint64_t length, std::uint64_t us, std::uint64_t left) {
    constexpr std::uint64_t kShortUs = 16; // hundreds of times what it costs to take a piece
    constexpr std::uint64_t kLongUs = 4 * kShortUs;
    constexpr std::uint64_t kPart = 4; // of what is left
    const std::uint64_t wanted = us < kShortUs ? 2 * length : us > kLongUs ? length / 2 : length;
    return std::max<std::uint64_t>(std::min(wanted, left / kPart), 1);
}

std::uint64_t take_over(const Member &member, const Loop &loop, Takes takes) {
    for (;;) {
        StealableRange *victim = nullptr;
        std::uint64_t most = 0;
        std::uint64_t from = 0;
        for (int i = 0; i < member.group->size; ++i) {
            StealableRange &range = loop.ranges[i];
            const std::uint64_t its_from = takes == Takes::all ? 0 : range.offered_from();
            const std::uint64_t left = range.left(its_from);
            if (i != member.index && left > most) {
                most = left;
                victim = &range;
                from = its_from;
            }
        }
        if (!victim)
            return 0;
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        if (drains_at_once(*victim) || !victim->steal(&first, &last, from, kNoLimit))
            continue;
        loop.ranges[member.index].refill(first, last);
        return last - first;
    }
}

LentLoop &LentLoop::at(std::atomic<LentLoop *> &place) {
    LentLoop *found = place.load(std::memory_order_acquire);
    if (SENNIT_LIKELY(found != nullptr))
        return *found;
    auto *made = new (std::nothrow) LentLoop;
    if (!made)
        fatal("no memory for what is known of a loop (%zu bytes)", sizeof(LentLoop));
    if (place.compare_exchange_strong(found, made, std::memory_order_acq_rel))
        return *made;
    delete made;
    return *found;
}

bool LentLoop::is_offered() {
    if (untaken_.load(std::memory_order_relaxed) < kEnd)
        return true;
    return (kept_.fetch_add(1, std::memory_order_relaxed) + 1) % kProbeEvery == 0;
}

void LentLoop::begin(Loop &loop, int threads) {
    if (loop.ranges && is_offered()) {
        loop.plan = &kLent;
        loop.own = this;
        kLent.begin(loop, threads);
    } else {
        loop.plan = &kKept;
    }
}

void LentLoop::end(bool any_taken) {
    if (any_taken)
        untaken_.store(0, std::memory_order_relaxed);
    else if (untaken_.load(std::memory_order_relaxed) < kEnd)
        untaken_.fetch_add(1, std::memory_order_relaxed);
}

} // namespace sennit::omp
