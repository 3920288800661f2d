// SPDX-License-Identifier: Apache-2.0
// sennit_event_fd: completion of MPI operations as a file descriptor.
//
// Invariant: a batch writes to a duplicate of its own (base/event_file.h).
#include "base/agreements.h"
#include "base/event_file.h"
#include "mpi/call/bare.h"
#include "mpi/call/runtime.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/batch.h"
#include "mpi/record/record.h"

#include "sennit.h"

#include <cstdint>

using namespace sennit::mpi;

namespace {

void tell(Batch &batch) {
    // MPI_Test returns a single request's error, which nobody reads here, and sets no MPI_ERROR.
    if (batch.count == 1 && batch.user_statuses && batch.error != MPI_SUCCESS)
        batch.user_statuses->MPI_ERROR = batch.error;
    sennit::tell_event_file(static_cast<int>(reinterpret_cast<std::intptr_t>(batch.data)));
}

// The wake-up of who sits in epoll: the runtime's ticker tests while operations are pending.
// Without it, the progress thread does.
bool runtime_ticks() {
    using Ask = decltype(sennit_poll_ticks);
    static auto *const ask = reinterpret_cast<Ask *>(find_in_runtime("sennit_poll_ticks"));
    return runtime_present() && ask && ask();
}

bool somebody_tests() {
    return may_use_threads() && (runtime_ticks() || g_engine.progress_thread.ensure());
}

} // namespace

extern "C" SENNIT_EXPORT int sennit_event_fd(int *fd, int count, void *requests, void *statuses) {
    if (!fd || count < 0 || (count > 0 && !requests) || !mpi_is_open())
        return SENNIT_ERR_PARAMETER;
    if (!somebody_tests())
        return SENNIT_ERR_NO_PROGRESS;
    // Constants of MPI's, which no status is at.
    auto *const wanted = is_ignored(static_cast<MPI_Status *>(statuses))
                             ? nullptr
                             : static_cast<MPI_Status *>(statuses);
    const int errno_before = errno;
    const int fd_before = *fd;
    const int own = sennit::share_event_file(fd);
    Batch *batch = nullptr;
    int error = errno == EBADF ? SENNIT_ERR_PARAMETER : SENNIT_ERR_OUT_OF_MEMORY;
    if (own >= 0) {
        // Nobody can know whom the descriptor tells.
        g_record.timeline.completes(static_cast<MPI_Request *>(requests), count, 0);
        batch = make_batch("sennit_event_fd", count, static_cast<MPI_Request *>(requests),
                           wanted != nullptr, Requests::waited_for);
        if (!batch) {
            sennit::give_back_event_file(fd, fd_before, own);
            error = SENNIT_ERR_OUT_OF_MEMORY;
        }
    }
    errno = errno_before;
    if (!batch)
        return error;
    batch->user_statuses = wanted;
    batch->deliver = tell;
    batch->fulfils = true;
    batch->data = reinterpret_cast<void *>(static_cast<std::intptr_t>(own));
    hand_over(*batch);
    g_engine.progress_thread.wake();
    return SENNIT_SUCCESS;
}
