// SPDX-License-Identifier: Apache-2.0
// The first try of a blocking call in a task, before anything is stored about the call. Most
// messages are there already, or leave at once.
#pragma once

#include "mpi/call/calls.h"
#include "mpi/call/errors.h"
#include "mpi/engine/engine.h"
#include "mpi/engine/urgency.h"
#include "mpi/quirks/born_complete.h"
#include "mpi/quirks/quick_test.h"

namespace sennit::mpi {

// The test of a first try where ranks outnumber cores.
int test_in_crowd(Notice notice, MPI_Request *request, int *flag, MPI_Status *status);

struct Attempt {
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    bool started = false;
    bool unraised = false; // as in a ticket

    static bool is_allowed(Notice notice, std::int64_t count) {
        return g_calls.obstacles.load(std::memory_order_relaxed) == 0 &&
               (notice != Notice::send || count < Urgency::kLongMessage);
    }

    // Call start(&request), and test once. Returns whether the call is over. If not, the caller has
    // to call go_on(), also if the test gave an error.
    template <class Start>
    [[gnu::always_inline]] bool is_over(Notice notice, const Start &start, MPI_Status *status) {
        const Inside inside;
        started = true;
        error = start(&request);
        if (error != MPI_SUCCESS || (notice == Notice::send && is_born_complete(request)))
            return true;
        const QuietTests quiet;
        int flag = 0;
        error = crowded() ? test_in_crowd(notice, &request, &flag, status)
                          : quick_test(&request, &flag, status);
        if (error == MPI_SUCCESS) [[likely]]
            return flag != 0;
        unraised = QuietTests::kept_back();
        return false;
    }
};

// Wait for an attempt that is not over.
int go_on(const Attempt &attempt, const Operation &operation, MPI_Status *status);

} // namespace sennit::mpi
