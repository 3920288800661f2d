// SPDX-License-Identifier: Apache-2.0
// The search for a period, and what follows from one: which steps a step depends on.
#include "tasks/task/repeats.h"

#include "base/assert.h"
#include "base/hash.h"
#include "decide/tasks/rules.h"
#include "tasks/task/depend.h"

#include <algorithm>
#include <utility>

namespace sennit::task {

// ---- the search -----------------------------------------------------------------------------

// Of a whole list of dependences.
static std::uint64_t mix(const Depend *depends, int count) {
    std::uint64_t mixed = 0;
    for (int i = 0; i < count; ++i)
        mixed = hash_after(mixed, reinterpret_cast<std::uintptr_t>(depends[i].address) +
                                      static_cast<std::uint64_t>(depends[i].kind));
    return mixed;
}

// In the stages in which each task counts, left_ is 1: so each one comes here.
void Repeats::look(sched::Worker &worker, const Depend *depends, int count, DependNode &node) {
    switch (stage_) {
    case Stage::off:
    case Stage::replays:
        return;
    case Stage::rests:
        if (left_ == 0)
            seek_next(1);
        return;
    case Stage::seeks:
        if (left_ == 0) {
            spent_ += range_;
            if (range_ >= kMostSteps)
                return rest();
            if (count < kWorth)
                return seek_next(kShortRest);
            return seek(depends, count, range_ ? 4 * range_ : kFirstRange);
        }
        if (mix(depends, count) != anchor_mix_)
            return;
        if (!is_round(range_ - left_))
            return;
        stage_ = Stage::records;
        steps_.clear();
        accesses_.clear();
        [[fallthrough]];
    case Stage::records:
        left_ = 1;
        if (steps_.size() < period_) {
            if (!record(depends, count))
                rest();
            return;
        }
        if (accesses_.size() < kWorth * steps_.size())
            return rest();
        stage_ = Stage::compares;
        at_ = 0;
        [[fallthrough]];
    case Stage::compares:
        left_ = 1;
        compare(worker, depends, count, node);
    }
}

void Repeats::seek(const Depend *depends, int count, std::uint64_t range) {
    stage_ = Stage::seeks;
    range_ = left_ = range;
    anchor_ = address_of(depends[0]);
    anchor_mix_ = mix(depends, count);
    period_ = 0;
}

// The anchor has come again, after `distance` tasks. Has it come often enough at this distance? One
// that comes at other distances may occur twice in a period.
bool Repeats::is_round(std::uint64_t distance) {
    spent_ += distance;
    if (distance != period_) {
        if (period_ != 0 && ++tries_ > kTries) {
            rest();
            return false;
        }
        period_ = distance;
        seen_ = 0;
    }
    left_ = range_;
    return ++seen_ == kRounds;
}

// The more often there was nothing, the longer.
void Repeats::rest() {
    stage_ = Stage::rests;
    left_ = std::max(spent_, kShortRest) << std::min(rests_, kMostRests);
    ++rests_;
    tries_ = 0;
    spent_ = 0;
    anchor_ = kNone;
}

// False where there is no room, and with omp_all_memory, which is an access to every address.
bool Repeats::record(const Depend *depends, int count) {
    Step step{};
    step.access = static_cast<std::uint32_t>(accesses_.size());
    step.count = static_cast<std::uint32_t>(count);
    if (accesses_.size() + step.count > kMostAccesses)
        return false;
    for (int i = 0; i < count; ++i)
        if (!depends[i].address || !accesses_.push({address_of(depends[i]), depends[i].kind, true}))
            return false;
    return steps_.push(step);
}

void Repeats::compare(sched::Worker &worker, const Depend *depends, int count, DependNode &node) {
    Step &step = steps_[at_];
    if (!is_same(step, depends, count))
        return differ(&worker, depends, count);
    count_place(node);
    step.latest = &node;
    if (const Task *const task = node.task) { // nobody runs it yet
        step.profile = task->is(Task::kProfiled) ? task->profile : nullptr;
        step.sends = task->priority == policy::kMostPriority;
    }
    if (++at_ < steps_.size())
        return;
    at_ = 0;
    rounds_ = 0;
    priorities_of_ = 0;
    if (plan()) {
        stage_ = Stage::replays;
    } else {
        forget_nodes(&worker);
        rest();
    }
}

// The task that differs may be the one that occurs once in a period.
void Repeats::differ(sched::Worker *worker, const Depend *depends, int count) {
    forget_nodes(worker);
    spent_ += 2 * steps_.size();
    if (++tries_ > kTries)
        rest();
    else
        seek(depends, count, kFirstRange);
}

void Repeats::end(sched::Worker *worker) {
    if (stage_ == Stage::off)
        return;
    if (stage_ == Stage::rests || stage_ == Stage::seeks) {
        if (left_ == 0)
            seek_next(kShortRest);
        return;
    }
    if (rounds_ >= kPays) {
        tries_ = 0;
        rests_ = 0;
    } else {
        ++tries_;
        spent_ += 4 * steps_.size();
    }
    forget_nodes(worker);
    rounds_ = 0;
    if (tries_ > kTries)
        return rest();
    seek_next(1);
}

// The anchor will be the task after so many.
void Repeats::seek_next(std::uint64_t tasks) {
    stage_ = Stage::seeks;
    anchor_ = kNone;
    left_ = tasks;
    range_ = 0;
}

void Repeats::forget_nodes(sched::Worker *worker) {
    for (Step &step : steps_)
        if (step.latest)
            drop_place(worker, std::exchange(step.latest, nullptr));
}

void Repeats::release(sched::Worker *worker) {
    forget_nodes(worker);
    steps_.release();
    accesses_.release();
    predecessors_.release();
}

// ---- what follows from a period -------------------------------------------------------------

namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

// An address of the period. Tasks have numbers, through two rounds.
struct Cell {
    std::uintptr_t address = 0;
    bool is_written = false;
    bool is_other = false; // it has accesses that are neither `in` nor `out`
    std::uint32_t writer = kNobody;
    std::uint32_t readers = kNobody; // since then: the first of a list
};
struct Reader {
    std::uint32_t task;
    std::uint32_t next;
};

} // namespace

// Two rounds from an empty table on: what the first one leaves is what every round leaves. The
// second one shows the predecessors.
bool Repeats::plan() {
    unsigned bits = 4;
    while (std::size_t{1} << bits < 2 * accesses_.size())
        ++bits;
    ScopedArray<std::uint32_t> places; // by address: the numbers of cells, from 1 on
    ScopedArray<std::uint32_t> cell_of;
    ScopedArray<Cell> cells;
    if (!places.extend(std::size_t{1} << bits) || !cell_of.reserve(accesses_.size()) ||
        !cells.reserve(accesses_.size()))
        return false;
    for (const Access &access : accesses_) {
        std::size_t place = hash_place(access.address, bits);
        while (places[place] != 0 && cells[places[place] - 1].address != access.address)
            place = (place + 1) & (places.size() - 1);
        std::uint32_t &number = places[place];
        if (number == 0) {
            cells.push({access.address});
            number = static_cast<std::uint32_t>(cells.size());
        }
        Cell &cell = cells[number - 1];
        cell.is_written = cell.is_written || access.kind == DependKind::out;
        cell.is_other =
            cell.is_other || (access.kind != DependKind::out && access.kind != DependKind::in);
        if (cell.is_other && all_edges_)
            return false;
        cell_of.push(number - 1);
    }
    const auto size = static_cast<std::uint32_t>(steps_.size());
    ScopedArray<Reader> readers;
    ScopedArray<std::uint32_t> added; // to whom a step was added last as a predecessor
    if (!added.extend(size) || !readers.reserve(2 * accesses_.size()))
        return false;
    predecessors_.clear();
    // The predecessor `before` of the task `number`: false if it is not the latest one of its step.
    const auto add = [&](std::uint32_t number, std::uint32_t before) {
        if (number < size || before == kNobody || before == number)
            return true;
        const std::uint32_t step = before % size;
        if (number - before > size)
            return false;
        if (std::exchange(added[step], number) == number)
            return true;
        return predecessors_.push(step);
    };
    for (std::uint32_t number = 0; number < 2 * size; ++number) {
        Step &step = steps_[number % size];
        step.predecessor = static_cast<std::uint32_t>(predecessors_.size());
        step.looks_up = false;
        for (std::uint32_t i = step.access; i < step.access + step.count; ++i) {
            Cell &cell = cells[cell_of[i]];
            accesses_[i].by_table = !cell.is_written || cell.is_other;
            if (accesses_[i].by_table) {
                step.looks_up = true;
                continue;
            }
            const bool writes = accesses_[i].kind == DependKind::out;
            if (!writes || cell.readers == kNobody) {
                if (!add(number, cell.writer))
                    return false;
            } else {
                for (std::uint32_t at = cell.readers; at != kNobody; at = readers[at].next)
                    if (!add(number, readers[at].task))
                        return false;
            }
            if (writes) {
                cell.writer = number;
                cell.readers = kNobody;
            } else {
                const auto first = static_cast<std::uint32_t>(readers.size());
                if (!readers.push({number, cell.readers}))
                    return false;
                cell.readers = first;
            }
        }
        step.predecessors_end = static_cast<std::uint32_t>(predecessors_.size());
        if (predecessors_.size() > 4 * kMostAccesses)
            return false;
    }
    return true;
}

// All sends have one priority, and each edge takes one from it: so a step's follows from the fewest
// edges to a send. Breadth-first from all sends, against the edges; these lead through the end of a
// round to the round before.
bool Repeats::lead_to_sends() {
    ScopedArray<std::uint32_t> found;
    if (!found.reserve(steps_.size()))
        return false;
    for (std::uint32_t number = 0; number < steps_.size(); ++number)
        if (steps_[number].sends)
            found.push(number);
    for (std::size_t next = 0; next < found.size(); ++next) {
        const Step step = steps_[found[next]];
        for (std::uint32_t i = step.predecessor; i < step.predecessors_end; ++i) {
            Step &before = steps_[predecessors_[i]];
            if (before.priority > 0 || step.priority <= 1)
                continue;
            before.priority = static_cast<std::int16_t>(step.priority - 1);
            found.push(predecessors_[i]);
        }
    }
    return found.size() == steps_.size();
}

} // namespace sennit::task
