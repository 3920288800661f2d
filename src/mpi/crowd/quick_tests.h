// SPDX-License-Identifier: Apache-2.0
// Makes the tests of the engine quick: such a test does not wait. A thread that waits outside of
// tasks yields between two of them, and notes how long that takes (vigil.h).
//
// Some MPI libraries yield by themselves in a test that is in vain (quirks/own_yields.h). While
// this object lives, they do not. Beside a program that computes each yield takes a time slice, and
// a task that starts 500 messages tests 500 times.
//
// These tests do not count as spinning of the program (spins.h), which would end in a nap.
//
// The setting is one for the process. A thread in a call that spins may miss a yield by it, and
// looks again.
#pragma once

#include "mpi/crowd/crowd.h"
#include "mpi/crowd/spins.h"
#include "mpi/quirks/own_yields.h"

namespace sennit::mpi {

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
