// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/answers.h"

#include "mpi/call/bare.h"
#include "mpi/call/runtime.h"

#include <sched.h>

namespace sennit::mpi {

bool Answers::begin() {
    static constexpr auto finalized = SENNIT_BARE(Finalized);
    asking_.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with close
    int over = 0;
    return multiple() && finalized(&over) == MPI_SUCCESS && !over;
}

void Answers::close() {
    set_multiple(false);
    std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with begin
    while (asking_.load(std::memory_order_acquire) != 0)
        sched_yield(); // it calls nothing that waits for others
}

} // namespace sennit::mpi
