// SPDX-License-Identifier: Apache-2.0
// A collective operation of our own, outside of tasks and of the engine. Ranks may be late: between
// two tests the thread rests, and how is the caller's choice.
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "wait/ladder.h"

#include <cstdint>
#include <ctime>
#include <mpi.h>
#include <sched.h>

namespace sennit::mpi {

// How to rest while ranks are late: the core is left to those which are not there yet. Yields may
// not reach them, so the thread soon sleeps, and longer and longer.
class LateRanks {
  public:
    void operator()() {
        if (ladder_.next(wait::kLateRanks) == wait::Rung::tests) {
            sched_yield();
            return;
        }
        const timespec nap = {0, static_cast<long>(ladder_.nap_ns(wait::kLateRanks))};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
        ladder_.slept(wait::kLateRanks, false);
    }

  private:
    wait::Ladder ladder_;
};

// start(&request), then rest() until it is over. False: MPI returned an error.
template <class Start, class Rest>
bool meet(Start start, Rest rest) {
    static constexpr auto test = SENNIT_BARE(Test);
    MPI_Request request = MPI_REQUEST_NULL;
    int over = 0;
    int error = outside_task([&] { return start(&request); });
    while (error == MPI_SUCCESS) {
        error = outside_task([&] { return test(&request, &over, MPI_STATUS_IGNORE); });
        if (over || error != MPI_SUCCESS)
            break;
        rest();
    }
    return error == MPI_SUCCESS;
}

} // namespace sennit::mpi
