// SPDX-License-Identifier: Apache-2.0
// Repeated graphs: the dependent tasks of a creator that come again and again, with the same
// dependences in the same order, as in the iterations of a solver.
//
// Once a period of them is known, a task's predecessors follow from its number in the period: they
// are the latest tasks of certain other numbers. So they are not looked up by address, and nothing
// is written in the table of dependences. The first task that does not continue the period ends
// this. Then the table is given what it has missed, and is as if it had been used all the time.
//
// Why the latest tasks are enough. An address that a task of the period writes (out, inout), and
// that the others write or read, is written between any two tasks of the same number. A task
// depends on the last writer, or on the readers since then. So these belong to the last `period`
// tasks before it, in which each number occurs once. What the table says of such an address follows
// from the last `period` tasks as well, whatever it said before. Addresses with other accesses, for
// example those that are only read, stay with the table, also while the period goes on.
//
// The period is found by an anchor: one task whose dependences are remembered. When they have come
// several times at the same distance, that is taken for the period, one period is recorded and the
// next one is compared. So a graph that comes a few times only costs next to nothing.
// A creator whose tasks do not repeat is left alone for longer and longer times.
//
// Under a policy that looks ahead (sa, fa) the whole period is known before its tasks are created.
// So each step has the priority of its place in a period that goes on for ever (find_priorities()).
// A task that is replayed has it from its creation on, and needs no vertex in the outlook. A task
// that leads to no send of the period needs one, for a send that comes later.
//
// Only the creator touches all this, as it does with its table. To the counts of a node (`places`),
// a step of the period is a place in the table.
#pragma once

#include "base/array.h"
#include "base/compiler.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>

namespace sennit::task {

class Repeats {
  public:
    // One of the period's tasks.
    struct Step {
        std::uint32_t access;           // the first of its accesses
        std::uint32_t count;            // of them
        std::uint32_t predecessor;      // the first of its predecessors
        std::uint32_t predecessors_end; // in predecessors()
        DependNode *latest;             // the task that was this step last; null: none yet
        const policy::Profile *profile; // fa: of its tasks
        bool looks_up;                  // it has accesses that stay with the table
        bool sends;            // sa: its tasks are marked; then what find_priorities() says
        std::int16_t priority; // find_priorities()
    };
    struct Access {
        std::uintptr_t address;
        DependKind kind;
        bool by_table;
    };

    static constexpr std::size_t kMostSteps = std::size_t{1} << 14;
    static constexpr std::size_t kMostAccesses = 8 * kMostSteps;

    // Never look for repetitions.
    void switch_off() {
        stage_ = Stage::off;
        left_ = 0; // 2^64 tasks
    }

    // Only what has no edges but those in predecessors() is of use.
    void need_all_edges() { all_edges_ = true; }

    // Asked once of each task: does it count for a period, or for the search for one? Most tasks of
    // a creator whose tasks do not repeat do not, and that is all that they have to do with this.
    [[gnu::always_inline]] bool counts(const Depend &first) {
        return SENNIT_UNLIKELY(--left_ == 0 || address_of(first) == anchor_);
    }

    // ---- while the period goes on ---------------------------------------------------------------

    bool replays() const { return stage_ == Stage::replays; }
    // The next step, if these are its dependences.
    Step *next(const Depend *depends, int count) {
        left_ = 1;
        Step &step = steps_[at_];
        return is_same(step, depends, count) ? &step : nullptr;
    }
    void advance() {
        if (++at_ == steps_.size()) {
            at_ = 0;
            ++rounds_;
        }
    }
    DependNode *latest(std::uint32_t step) const { return steps_.begin()[step].latest; }
    const std::uint32_t *predecessors() const { return predecessors_.begin(); }
    const Access *accesses(const Step &step) const { return accesses_.begin() + step.access; }

    // Of `verdicts`, what was known when they were found: not 0.
    bool has_priorities(std::uint32_t verdicts) const { return priorities_of_ == verdicts; }
    bool has_priorities() const { return priorities_of_ != 0; }
    // The highest priority, `most`, has a step of which sends(step) is true. Others have that of
    // their successors, less one, through all rounds to come. False: some have none.
    template <class Sends>
    bool find_priorities(std::uint32_t verdicts, int most, Sends sends) {
        for (Step &step : steps_) {
            step.sends = sends(static_cast<const Step &>(step));
            step.priority = static_cast<std::int16_t>(step.sends ? most : 0);
        }
        priorities_of_ = verdicts;
        return lead_to_sends();
    }

    // visit(step) for the latest `period` tasks, in the order of their creation.
    template <class Visit>
    void each_latest(Visit visit) {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            Step &step = steps_[(at_ + i) % steps_.size()];
            if (step.latest)
                visit(step);
        }
    }
    // The end of a period, or of the search for one.
    void end(sched::Worker *worker);

    // ---- while it is looked for -----------------------------------------------------------------

    // `node`, which counts and has these dependences, has its places in the table.
    void look(sched::Worker &worker, const Depend *depends, int count, DependNode &node);

    // The creator ends: forget all, memory, too.
    void release(sched::Worker *worker);

    // For checks.
    template <class Visit>
    void each_place(Visit visit) const {
        for (const Step &step : steps_)
            if (step.latest)
                visit(*step.latest);
    }

  private:
    enum class Stage : std::uint8_t { rests, seeks, records, compares, replays, off };
    static constexpr std::uintptr_t kNone = ~std::uintptr_t{0};
    static constexpr std::uint64_t kFirstRange = 256; // that an anchor may come again
    static constexpr std::uint32_t kRounds = 6;       // of an anchor, before anything is recorded
    static constexpr int kWorth = 2; // dependences of a task: one is found as fast in the table
    static constexpr std::uint32_t kTries = 4; // before the creator is left alone
    static constexpr std::uint64_t kShortRest = 64;
    static constexpr std::uint32_t kMostRests = 8; // from then on they grow no more
    static constexpr std::uint64_t kPays = 16;     // rounds that make up for the search

    static std::uintptr_t address_of(const Depend &depend) {
        return reinterpret_cast<std::uintptr_t>(depend.address);
    }
    [[gnu::always_inline]] bool is_same(const Step &step, const Depend *depends, int count) const {
        if (step.count != static_cast<std::uint32_t>(count))
            return false;
        const Access *access = accesses(step);
        for (int i = 0; i < count; ++i, ++access)
            if (access->address != address_of(depends[i]) || access->kind != depends[i].kind)
                return false;
        return true;
    }

    void seek(const Depend *depends, int count, std::uint64_t range);
    bool is_round(std::uint64_t distance);
    void seek_next(std::uint64_t tasks);
    void rest();
    bool record(const Depend *depends, int count);
    void compare(sched::Worker &worker, const Depend *depends, int count, DependNode &node);
    void differ(sched::Worker *worker, const Depend *depends, int count);
    bool plan();
    bool lead_to_sends();
    void forget_nodes(sched::Worker *worker);

    Stage stage_ = Stage::seeks;
    std::uint32_t tries_ = 0;
    std::uint32_t rests_ = 0;
    std::uint32_t seen_ = 0;          // rounds of the anchor
    std::uint64_t left_ = 1;          // tasks until look() in any case
    std::uint64_t range_ = 0;         // of the anchor; 0: there was none
    std::uint64_t spent_ = 0;         // tasks that were looked at since the last rest
    std::uintptr_t anchor_ = kNone;   // its first address
    std::uint64_t anchor_mix_ = 0;    // of all its dependences
    std::uint64_t period_ = 0;        // that is being recorded
    std::uint64_t rounds_ = 0;        // that were replayed
    std::size_t at_ = 0;              // the step that comes next
    bool all_edges_ = false;          // see need_all_edges()
    std::uint32_t priorities_of_ = 0; // 0: of nothing
    Array<Step> steps_;
    Array<Access> accesses_;
    Array<std::uint32_t> predecessors_;
};

} // namespace sennit::task
