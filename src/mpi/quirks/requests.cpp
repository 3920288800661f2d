// SPDX-License-Identifier: Apache-2.0
#include "mpi/quirks/requests.h"

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/errors.h"

namespace sennit::mpi {

#ifndef MPICH_NUMVERSION

constinit std::atomic<std::uintptr_t> g_born_complete{0};

void learn_born_complete() {
    static constexpr auto receive = SENNIT_BARE(Irecv);
    static constexpr auto wait = SENNIT_BARE(Wait);
    const Inside inside;
    MPI_Request requests[2];
    for (MPI_Request &request : requests)
        if (receive(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request) !=
            MPI_SUCCESS)
            return;
    if (requests[0] == requests[1])
        g_born_complete.store(handle_bits(requests[0]), std::memory_order_relaxed);
    for (MPI_Request &request : requests)
        wait(&request, MPI_STATUS_IGNORE);
}

#endif

#if defined MPICH_NUMVERSION || defined MPI_ABI

int TestAll::operator()(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    static constexpr auto test = SENNIT_BARE(Test);
    static constexpr auto error_class = SENNIT_BARE(Error_class);
    static constexpr auto testall = SENNIT_BARE(Testall);
    if (count < 0)
        return testall(count, requests, flag, statuses); // says what is wrong
    const bool ignored = is_ignored(statuses);
    for (*flag = 0; over_ < count; ++over_) {
        const int error =
            test(&requests[over_], flag, ignored ? MPI_STATUS_IGNORE : &statuses[over_]);
        if (error == MPI_SUCCESS && !*flag)
            return MPI_SUCCESS;
        unraised_ = QuietTests::kept_back() || unraised_;
        int kind = MPI_SUCCESS;
        error_class(error, &kind);
        if (kind == MPI_ERR_REQUEST || kind == MPI_ERR_ARG)
            return give_back(error); // it is none
        errors_.note(ignored ? nullptr : statuses, over_, error);
    }
    *flag = 1;
    // MPICH's MPI_Waitall writes this always, unlike its MPI_Testall. Programs look at it.
    for (int i = 0; !ignored && i < count && errors_.result() == MPI_SUCCESS; ++i)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    return give_back(errors_.result());
}

// An error that was kept from a handler in an earlier call was that call's business.
int TestAll::give_back(int error) {
    QuietTests::t_kept = unraised_;
    return error;
}

#else

int TestAll::operator()(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    static constexpr auto testall = SENNIT_BARE(Testall);
    return testall(count, requests, flag, statuses);
}

#endif

} // namespace sennit::mpi
