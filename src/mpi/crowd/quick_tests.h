// SPDX-License-Identifier: Apache-2.0
// The engine's own tests, in tasks and by idle workers, do not wait: the MPI that yields by itself
// in tests that are in vain (quirks/own_yields.h) does not do so meanwhile. Beside a program that
// computes each yield takes a time slice, and a task that starts 500 messages tests 500 times.
//
// They are no spinning of the program's, either (spins.h), which would end in a nap.
//
// It is the process that yields or not. A thread that waits outside of tasks may miss a yield by
// it, and tests again.
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
