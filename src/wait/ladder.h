// SPDX-License-Identifier: Apache-2.0
// How a thread waits: it climbs a ladder, a rung a test in vain.
//
//   tests    it keeps its processor: an answer that comes soon takes no system call
//   yields   it leaves its processor to others that can go on, and is back when they wait
//   arms     it says that it is about to sleep, and tests once more (bell.h)
//   sleeps   until somebody rings, or its nap ends; then it tests again, and arms again
//
// How long it stays on each is a row of one table (rows.h). The caller brings the rest: what it
// tests, whom a yield reaches, and what it sleeps on. State: where one wait is. One thread uses it.
#pragma once

#include "base/clock.h"
#include "wait/rows.h"

#include <cstdint>

namespace sennit::wait {

// As wide as the count of tests: begin() is one store.
enum class Rung : std::int32_t { tests, yields, arms, sleeps };

class Ladder {
  public:
    // The next wait begins, after so many tests in vain. (Where idle tests have a time, each wait
    // has a ladder of its own.)
    void begin(int tests = 0) {
        tests_ = tests;
        rung_ = Rung::tests;
    }
    // Where the last test in vain has led to.
    Rung rung() const { return rung_; }
    // Since when it has left its processor to others.
    std::int64_t began_ns() const { return begin_ns_; }

    // A test was in vain. Does the thread test on, without more ado? `alone()`: has nobody else a
    // use for its processor? For waits that know no other rung, too.
    template <class Alone>
    bool tests(const LadderRow &row, Alone alone) {
        if (++tests_ < row.tests)
            return true;
        if ((row.idle_tests != kAnyNumber && row.idle_tests <= tests_) || !alone())
            return false;
        if (row.idle_ns == 0 || tests_ % kTestsAClock != 0)
            return true;
        const std::int64_t now = monotonic_ns();
        if (begin_ns_ == 0)
            begin_ns_ = now;
        return now - begin_ns_ < row.idle_ns;
    }
    // The same of a row without idle tests, which only counts. The count goes on on other rungs.
    bool counts(const LadderRow &row) { return rung_ == Rung::tests && ++tests_ < row.tests; }

    // A test was in vain: what comes before the next one? `pays(now)`: does it pay to yield?
    template <class Alone, class Pays>
    Rung next(const LadderRow &row, Alone alone, Pays pays) {
        return rung_ == Rung::tests && tests(row, alone) ? rung_ : beyond_tests(row, pays);
    }
    Rung next(const LadderRow &row) {
        return next(row, [] { return true; }, [](std::int64_t) { return true; });
    }
    // The same for a thread that has counted its tests.
    template <class Pays>
    Rung beyond_tests(const LadderRow &row, Pays pays) {
        if (rung_ <= Rung::yields && yields(row, pays))
            return rung_;
        if (rung_ <= Rung::yields)
            nap_ns_ = row.naps.shortest_ns;
        else if (rung_ == Rung::arms)
            return rung_ = Rung::sleeps;
        else if (++tests_ < row.tests_of_ring)
            return Rung::tests;
        return rung_ = row.tests_of_ring == 0 ? Rung::sleeps : Rung::arms;
    }

    std::int64_t nap_ns(const LadderRow &row) const {
        return row.naps.of_wait ? row.naps.of(monotonic_ns() - begin_ns_) : nap_ns_;
    }
    // It has slept. `rung`: not to the end of its nap.
    void slept(const LadderRow &row, bool rung) {
        tests_ = rung ? 0 : row.tests_of_ring - row.tests_of_nap;
        if (!rung)
            nap_ns_ = row.naps.after(nap_ns_);
    }
    // Something has been found, but not what is waited for: as after a ring.
    void test_again() {
        tests_ = 0;
        if (rung_ == Rung::arms)
            rung_ = Rung::sleeps;
    }

  private:
    static constexpr int kTestsAClock = 8;

    template <class Pays>
    bool yields(const LadderRow &row, Pays pays) {
        if (row.yield_ns == 0)
            return false;
        const std::int64_t now = monotonic_ns();
        if (rung_ == Rung::tests)
            begin_ns_ = now;
        rung_ = Rung::yields;
        return now - begin_ns_ < row.yield_ns && pays(now);
    }

    std::int32_t tests_ = 0;
    Rung rung_ = Rung::tests;
    std::int64_t begin_ns_ = 0;
    std::int64_t nap_ns_ = 0;
};

} // namespace sennit::wait
