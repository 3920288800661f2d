// SPDX-License-Identifier: Apache-2.0
// MPI_Test of a send or a receive that was just started. MPICH 4.0's makes progress first, even if
// the request is over: two thirds of its instructions. MPI_Request_get_status makes progress only
// if it is not, and then costs less, too; and MPI_Wait of what is over makes none. Together they
// take 80 instructions less than MPI_Test, whatever they find.
//
// Two kinds of requests must not be tested so. First, those that are tested again and again: when
// the message comes at last, two calls take longer than MPI_Testsome's one, and a round trip takes
// 10% longer. Second, generalized requests, such as those of ROMIO: MPI_Request_get_status does not
// poll for them. The caller holds QuietTests, because this call and MPI_Wait may both tell of one
// error.
#pragma once

#include "mpi/call/bare.h"

#include <mpi.h>

namespace sennit::mpi {

inline int quick_test(MPI_Request *request, int *flag, MPI_Status *status) {
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
    static constexpr auto get_status = SENNIT_BARE(Request_get_status);
    static constexpr auto wait = SENNIT_BARE(Wait);
    *flag = 0;
    const int error = get_status(*request, flag, MPI_STATUS_IGNORE);
    return *flag ? wait(request, status) : error;
#else
    static constexpr auto test = SENNIT_BARE(Test);
    return test(request, flag, status);
#endif
}

} // namespace sennit::mpi
