// SPDX-License-Identifier: Apache-2.0
// How each MPI says that requests are complete: those that are from the start, those that were just
// started, and all of several.
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/operation.h"
#include "mpi/interpose/statuses.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// MPI libraries answer what is complete at once, small sends above all, with a request that many
// such calls share. It is known by its handle, need not be tested, and is nobody's to free: MPICH
// counts no references to its built-in requests, Open MPI none to its empty one.

#ifdef MPICH_NUMVERSION

inline bool is_born_complete(MPI_Request request) {
    return static_cast<unsigned>(request) >> 30 == 1; // of the handles that are built in
}
inline void learn_born_complete() {}

#else

extern constinit std::atomic<std::uintptr_t> g_born_complete;

inline bool is_born_complete(MPI_Request request) {
    return handle_bits(request) == g_born_complete.load(std::memory_order_relaxed);
}
// Once MPI_Init has returned; before, none is known, nor in a program that has only sessions.
void learn_born_complete();

#endif

// Is it over, without a test? Then the handle is null, as a test would leave it. For who wants no
// status.
inline bool is_over_untested(MPI_Request *request) {
    if (!is_born_complete(*request))
        return false;
    *request = MPI_REQUEST_NULL;
    return true;
}

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

// MPI_Testall for a wait in a task, which must do what MPI_Waitall does. MPICH 4.0's does not. With
// several partitioned requests or persistent collectives it says MPI_ERR_IN_STATUS although nothing
// has failed, and completes some without the others. What works is to wait for one after the other,
// in order.
class TestAll {
  public:
    // To be called again until *flag or an error; always with the same arguments.
    int operator()(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);

  private:
    int give_back(int error);

    int over_ = 0; // of the requests
    interpose::ErrorsInStatuses errors_;
    bool unraised_ = false; // a handler was not called
};

} // namespace sennit::mpi
