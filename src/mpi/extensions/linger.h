// SPDX-License-Identifier: Apache-2.0
// A moment's wait for an operation that is to be bound to a task, or told of by a callback. To
// write down who waits for it, to poll for it among others, and to complete the task from there,
// takes some thousand instructions. A message that comes meanwhile is better awaited here: then
// nothing has to be written down.
//
// TAMPI_Iwait and MPIX_Detach are not to block, and the rest of the task's body waits, too. So the
// wait is short, only while the thread has nothing else to do, and only as long as it pays.
#pragma once

#include "mpi/engine/engine.h"

namespace sennit::mpi {

// Does the next wait of a thread pay? After each one in vain, twice as many calls do not wait.
class Linger {
  public:
    static constexpr unsigned kMostInVain = 8;

    bool pays() {
        if (skips_ == 0)
            return true;
        --skips_;
        return false;
    }
    void note(bool over) {
        in_vain_ = over ? 0 : in_vain_ + (in_vain_ < kMostInVain);
        skips_ = (1U << in_vain_) - 1;
    }

  private:
    unsigned skips_ = 0;   // calls that will not wait
    unsigned in_vain_ = 0; // waits in a row
};

// Test a request, and again for a moment where that may pay.
Tested test_a_while(MPI_Request *request, MPI_Status *status);

} // namespace sennit::mpi
