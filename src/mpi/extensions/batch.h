// SPDX-License-Identifier: Apache-2.0
// Requests with something to do when all of them are complete: what TAMPI_Iwait, MPIX_Detach and
// MPIX_Continue are made of.
#pragma once

#include "mpi/call/bare.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/engine.h"
#include "mpi/quirks/requests.h"
#include "mpi/record/record.h"

namespace sennit::mpi {

struct Batch : Ticket {
    int count = 0;
    MPI_Request *requests = nullptr; // ours
    MPI_Request *handles = nullptr;  // a copy, if requests are followed (record/request_table.h)
    TestAll test_all;
    MPI_Status *statuses = nullptr; // ours; null: nobody asks
    // Told when all is complete; `error` and `statuses` are final. The batch is freed afterwards.
    void (*deliver)(Batch &batch) = nullptr;
    void *data = nullptr;                // for `deliver`
    void (*callback)() = nullptr;        // for `deliver`: the user's function
    MPI_Status *user_statuses = nullptr; // filled before `deliver`
    bool quiet = false;                  // `deliver` cares for errors, no handler is called
    sennit_task *bound = nullptr;        // has an event that is fulfilled last
};

enum class Requests {
    taken_over, // the user's handles become null, of persistent requests, too
    waited_for, // as MPI_Wait does: those of persistent requests are kept
    kept,       // all persistent: the user goes on to use them
};

// A batch of the user's requests; null when there is no memory.
Batch *make_batch(const char *name, int count, MPI_Request *requests, bool wants_statuses,
                  Requests what);

// The program may be told that the batch is complete by an event of the calling task. If that task
// is undeferred, its creator does not wait for the event (OpenMP 5.2, 12.5.2), but is to find what
// the task has handed over complete. So the batch is bound to the task, too.
void bind_if_undeferred(Batch &batch);

// Complete at once if possible, else test it from now on. Returns the error that was found at once.
int hand_over(Batch &batch);
// The same for one that was tested in vain: MPI_SUCCESS.
int file(Batch &batch);

// Is a single request over, without a test, and nobody wants to know more? Not while a timeline
// wants to see who waits for it, or completions are to come late.
inline bool is_over_untested(MPI_Request *request, const MPI_Status *status) {
    return is_ignored(status) && !g_record.timeline.traces() && !g_chaos.on() &&
           is_over_untested(request);
}

// Bind the calling task's completion to the requests (task-aware MPI paper, section 6.2).
int bind(const Operation &operation, int count, MPI_Request *requests, MPI_Status *statuses);

// start(&request), then bind it.
template <class Start>
int start_and_bind(const Operation &operation, MPI_Status *status, Start start) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = start_operation(operation, start, &request);
    return error == MPI_SUCCESS ? bind(operation, 1, &request, status) : error;
}

} // namespace sennit::mpi
