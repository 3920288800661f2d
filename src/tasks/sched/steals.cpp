// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/steals.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "tasks/sched/worker.h"
#include "tasks/trace/trace.h"

#include <algorithm>

namespace sennit::sched {
namespace {

constexpr std::uint32_t kManyToSteal = 8;
constexpr std::uint64_t kBriefPerUs = 40; // tasks that take 25 ns
constexpr std::uint64_t kMostDelayUs = 15;

SENNIT_COLD void note_steal(const Slot &from, int count) {
    const Worker *victim = from.worker.load(std::memory_order_relaxed);
    trace::steal(victim ? victim->id() : -1, static_cast<std::uint64_t>(count));
}

} // namespace

// Does it pay to look at the others' queues now? If the stolen tasks took no longer than it takes
// to move them, both sides lose: the creator waits for the cache lines of its queue and of its
// tasks. The theft has told what a line takes just now. A single task has to be as long as some
// thefts; of many at once each adds some 25 ns. Every brief theft in a row doubles the time until
// the next one. Then there is more to take at once.
bool Steals::pays() {
    if (stolen_at_ == 0 && after_ == 0)
        return true;
    const std::uint64_t now = ticks();
    if (stolen_at_ != 0) {
        const bool brief =
            now - stolen_at_ < 3 * theft_ticks_ + stolen_ * ticks_per_us() / kBriefPerUs;
        delay_us_ = brief ? std::min(2 * delay_us_ + 1, kMostDelayUs) : 0;
        after_ = brief ? now + delay_us_ * ticks_per_us() : 0;
        stolen_at_ = 0;
    }
    if (now < after_)
        return false;
    after_ = 0;
    return true;
}

// A longer queue has independent tasks of a single producer. Take several at once, so that producer
// and consumers meet at its lock less often. Not for a slot without a worker: that is a guest's
// (run_beyond_team), of which the group knows nothing, and is gone with its task.
Item *Steals::steal_from(Slot &other, std::uint32_t count, Slot &where) {
    const std::uint64_t begin = ticks();
    int more = 0;
    if (count >= kManyToSteal && where.worker.load(std::memory_order_relaxed))
        more = where.queue.steal_batch(other.queue, count < 2 * ReadyQueue::kMostStolen
                                                        ? static_cast<int>(count / 2)
                                                        : ReadyQueue::kMostStolen);
    Item *item =
        where.queue.count() ? where.queue.take_front() : other.queue.steal(ReadyQueue::End::back);
    if (!item)
        return nullptr;
    stolen_at_ = ticks();
    theft_ticks_ = stolen_at_ - begin;
    stolen_ = more > 0 ? static_cast<std::uint64_t>(more) : 1;
    if (trace::on())
        note_steal(other, more > 0 ? more : 1);
    return item;
}

// From near queues before far ones, and among those that are as far from a random one on. A round
// for each distance at which the one before has seen tasks.
Item *Steals::steal(Slot &where) {
    const Group &group = *where.group;
    where.random = where.random * 1664525u + 1013904223u;
    auto victim = static_cast<int>(
        (std::uint64_t{where.random} * static_cast<std::uint64_t>(group.size)) >> 32);
    int next = 0;
    for (int distance = 0; distance <= policy::Machine::kFar; distance = next) {
        next = policy::Machine::kFar + 1;
        for (int i = 0; i < group.size; ++i, ++victim) {
            if (victim >= group.size)
                victim = 0;
            Slot &other = *group.slots[victim];
            const std::uint32_t count = other.queue.count();
            if (count == 0 || &other == &where)
                continue;
            const int its = machine().distance(where.near_domain(), other.near_domain());
            if (its > distance)
                next = std::min(next, its);
            else if (its == distance)
                if (Item *const item = steal_from(other, count, where))
                    return item;
        }
    }
    return nullptr;
}

// The task of the highest priority, of the nearest queue that has any.
Item *Steals::take_ordered(Slot &where) {
    const Group &group = *where.group;
    for (int rank = 0; rank < machine().domains; ++rank)
        if (Item *item = group.queues[machine().look_at(where.near_domain(), rank)].take())
            return item;
    return nullptr;
}

} // namespace sennit::sched
