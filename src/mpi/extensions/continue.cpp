// SPDX-License-Identifier: Apache-2.0
// MPIX_Continue*: the calls.
#include "mpi/call/errors.h"
#include "mpi/call/status.h"
#include "mpi/extensions/batch.h"
#include "mpi/extensions/extensions.h"
#include "mpi/record/record.h"

#include "mpix_continue.h"

#include <cstring>
#include <new>

using namespace sennit::mpi;

namespace {

// The operations of a continuation are complete.
void deliver(Batch &batch) {
    auto *continuation = static_cast<Continuation *>(batch.data);
    continuation->error = batch.error;
    for (int i = 0; i < batch.count; ++i) {
        if (batch.error != MPI_SUCCESS && batch.statuses[i].MPI_ERROR != MPI_SUCCESS &&
            batch.statuses[i].MPI_ERROR != MPI_ERR_PENDING) {
            continuation->error = batch.statuses[i].MPI_ERROR;
            break;
        }
    }
    if (continuation->handles)
        std::memcpy(continuation->handles, batch.requests,
                    static_cast<std::size_t>(batch.count) * sizeof(MPI_Request));
    else if (continuation->free_requests) {
        static constexpr auto request_free = SENNIT_BARE(Request_free);
        for (int i = 0; i < batch.count; ++i)
            if (batch.requests[i] != MPI_REQUEST_NULL)
                outside_task([&] { return request_free(&batch.requests[i]); }); // persistent
    }
    continuation->all.complete(continuation);
}

// As the test of any batch. But the caller has given up the requests, so it cannot go on with the
// rest when one has failed. So all are waited for.
bool poll(Ticket &ticket) {
    auto &self = static_cast<Batch &>(ticket);
    int flag = 0;
    const int error = self.test_all(self.count, self.requests, &flag, self.statuses);
    QuietTests::kept_back();
    if (error != MPI_SUCCESS)
        self.error = error;
    if (flag)
        return true;
    const bool given_up = static_cast<Continuation *>(self.data)->handles == nullptr;
    return error != MPI_SUCCESS && (!given_up || error != MPI_ERR_IN_STATUS);
}

int attach(const char *name, int count, MPI_Request *requests, MPIX_Continue_cb_function *callback,
           void *data, int flags, MPI_Status *statuses, MPI_Request handle) {
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!callback)
        return MPI_ERR_ARG;
    Continuations &all = g_extensions.continuations;
    const bool given_up = (flags & (MPIX_CONT_REQBUF_VOLATILE | MPIX_CONT_REQUESTS_FREE)) != 0;
    auto *continuation =
        new (std::nothrow) Continuation{all,
                                        nullptr,
                                        callback,
                                        data,
                                        given_up ? nullptr : requests,
                                        (flags & MPIX_CONT_INVOKE_FAILED) != 0 || given_up,
                                        (flags & MPIX_CONT_REQUESTS_FREE) != 0,
                                        MPI_SUCCESS,
                                        nullptr};
    if (!continuation)
        return MPI_ERR_NO_MEM;
    if (!all.enter(*continuation, handle)) {
        delete continuation;
        return MPI_ERR_REQUEST;
    }
    g_record.timeline.completes(requests, count, 0);
    Batch *batch =
        make_batch(name, count, requests, true, given_up ? Requests::taken_over : Requests::kept);
    if (!batch) {
        all.withdraw(continuation);
        return MPI_ERR_NO_MEM;
    }
    batch->quiet = true;
    if (count != 1)
        batch->test = poll;
    batch->user_statuses = is_ignored(statuses) ? nullptr : statuses;
    batch->deliver = deliver;
    batch->data = continuation;
    bind_if_undeferred(*batch);
    hand_over(*batch);
    if ((flags & MPIX_CONT_DEFER_COMPLETE) == 0)
        all.run(true);
    g_engine.progress_thread.wake();
    return MPI_SUCCESS;
}

} // namespace

extern "C" {

SENNIT_EXPORT int MPIX_Continue_init(int flags, int max_poll, MPI_Info info, MPI_Request *handle) {
    static constexpr auto info_get = SENNIT_BARE(Info_get);
    if ((flags & ~MPIX_CONT_POLL_ONLY) != 0 || max_poll < 0 || !handle)
        return MPI_ERR_ARG;
    char thread[16] = "";
    int given = 0;
    if (info != MPI_INFO_NULL)
        outside_task([&] {
            return info_get(info, "mpi_continue_thread", sizeof thread - 1, thread, &given);
        });
    Callbacks::expect();
    const int error =
        g_extensions.continuations.make((flags & MPIX_CONT_POLL_ONLY) != 0,
                                        given && std::strcmp(thread, "all") == 0, max_poll, handle);
    static constexpr sennit_call call{"MPIX_Continue_init", 0, 0};
    g_record.requests.note(error, handle, {&call, -1, -1, 0});
    return error;
}

SENNIT_EXPORT int MPIX_Continue(MPI_Request *request, MPIX_Continue_cb_function *callback,
                                void *data, int flags, MPI_Status *status, MPI_Request cont_req) {
    return attach("MPIX_Continue", 1, request, callback, data, flags, status, cont_req);
}

SENNIT_EXPORT int MPIX_Continueall(int count, MPI_Request requests[],
                                   MPIX_Continue_cb_function *callback, void *data, int flags,
                                   MPI_Status statuses[], MPI_Request cont_req) {
    return attach("MPIX_Continueall", count, requests, callback, data, flags, statuses, cont_req);
}

SENNIT_EXPORT int MPIX_Continue_get_failed(MPI_Request cont_req, int *count, void **data) {
    return g_extensions.continuations.take_failed(cont_req, count, data) ? MPI_SUCCESS
                                                                         : MPI_ERR_REQUEST;
}

} // extern "C"
