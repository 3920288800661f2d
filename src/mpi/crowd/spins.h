// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking form - on windows and files, on communicators, reductions with an
// operation of the program's own - spin inside of MPI. If ranks outnumber cores, such a call leaves
// the core from within. It can, because Sennit stands in front of a function that MPI calls
// whenever it looks for messages (looks.cpp). Open MPI's also yields by itself
// (quirks/open_mpi.h).
//
// A thread that has looked in vain for some time yields, and later naps on the bell of the rank.
// Nobody knows for which rank such a call waits. So a thread that begins to spin rings all ranks of
// the node that sleep: one of them may have to answer. The number of these rings in one call is
// bounded, or the ranks would wake each other for ever.
//
// A program that tests in a loop of its own is here, too. It may wait, or it may compute between
// two tests: nobody can tell. If it computes, a nap for each test would cost a thousand times its
// work. So it yields, and never naps for long. If a yield reached nobody, it yields again only
// after a multiple of the time that the yield took.
#pragma once

#include "mpi/crowd/crowd.h"
#include "mpi/crowd/neighbours.h"
#include "mpi/quirks/open_mpi.h"
#include "wait/ladder.h"

#include <cstdint>
#include <utility>

namespace sennit::mpi {

class Spins {
  public:
    // A call begins that may spin.
    void begins() {
        ladder_.begin();
        rings_ = 0;
    }
    // MPI has looked for messages. `found`: there was something.
    void looked(bool found) {
        if (found) {
            begins();
            note_found();
        } else if (!ladder_.counts(wait::kSpin)) { // a fiber tests as often
            rest();
        }
    }
    void note_found() { found_ = true; }
    // Has it found something since this was asked last? Then it may have answered, and nobody has
    // rung for that.
    bool take_found() { return std::exchange(found_, false); }
    // This thread looks by itself, and rests between two looks (vigil.h).
    void rests() { ladder_.begin(); }

  private:
    void rest();

    wait::Ladder ladder_;
    std::uint32_t seen_ = 0;
    int rings_ = 0;
    bool found_ = false;
};

#pragma GCC visibility push(hidden)
extern constinit thread_local Spins t_spins __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

// The calling thread has tested some times in vain, by calls of the program.
void rest_between_tests();

// Makes the tests of the engine quick: such a test does not wait. A thread that waits outside of
// tasks yields between two of them, and notes how long that takes (vigil.h).
//
// Some MPI libraries yield by themselves in a test that is in vain (quirks/open_mpi.h). While
// this object lives, they do not. Beside a program that computes each yield takes a time slice, and
// a task that starts 500 messages tests 500 times.
//
// These tests do not count as spinning of the program, which would end in a nap.
//
// The setting is one for the process. A thread in a call that spins may miss a yield by it, and
// looks again.
class QuickTests {
  public:
    QuickTests() {
        t_spins.rests();
        if (yields_)
            make_tests_yield(false);
    }
    ~QuickTests() {
        if (yields_)
            make_tests_yield(true);
    }
    QuickTests(const QuickTests &) = delete;
    QuickTests &operator=(const QuickTests &) = delete;

  private:
    const bool yields_ = g_crowd.neighbours.tests_yield();
};

} // namespace sennit::mpi
