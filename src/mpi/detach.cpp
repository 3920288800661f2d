// SPDX-License-Identifier: Apache-2.0
// The non-blocking side: TAMPI_Iwait[all] (task-aware MPI paper, section 6.2) and MPIX_Detach* (MPI
// detach paper, section 4). All are one thing: a batch of requests with something to do at the end.
#include "mpi/engine.h"

#include "TAMPI.h"
#include "mpix_detach.h"

#include <cstdlib>
#include <cstring>
#include <new>

using namespace sennit::mpi;

namespace {

// What happens when all requests of a batch are complete.
struct Batch : Ticket {
    int count = 0;
    MPI_Request *requests = nullptr; // ours
    MPI_Status *statuses = nullptr;  // ours; null: nobody asks
    MPI_Status *user_statuses = nullptr;
    sennit_task *bound = nullptr;
    MPIX_Detach_function *plain = nullptr;
    MPIX_Detach_status_function *with_status = nullptr;
    MPIX_Detach_all_statuses_function *with_statuses = nullptr;
    void *data = nullptr;

    static bool poll(Ticket &ticket) {
        static const auto testall = SENNIT_BARE(Testall);
        auto &self = static_cast<Batch &>(ticket);
        int flag = 0;
        self.error = testall(self.count, self.requests, &flag,
                             self.statuses ? self.statuses : MPI_STATUSES_IGNORE);
        return flag || self.error != MPI_SUCCESS;
    }

    // The user is told, the memory goes.
    static void deliver(Ticket &ticket) {
        auto &self = static_cast<Batch &>(ticket);
        if (self.user_statuses)
            std::memcpy(self.user_statuses, self.statuses,
                        static_cast<std::size_t>(self.count) * sizeof(MPI_Status));
        if (self.plain)
            self.plain(self.data);
        if (self.with_status)
            self.with_status(self.data, self.statuses);
        if (self.with_statuses)
            self.with_statuses(self.data, self.count, self.statuses);
        sennit_task *bound = self.bound;
        std::free(&ticket);
        if (bound)
            fulfil_event(bound);
    }
};

// A batch that takes `requests` over; null when there is no memory.
Batch *make_batch(int count, MPI_Request *requests, bool wants_statuses) {
    const auto n = static_cast<std::size_t>(count);
    const std::size_t size = sizeof(Batch) + n * sizeof(MPI_Request) +
                             (wants_statuses ? (n + 1) * sizeof(MPI_Status) : 0);
    void *memory = std::malloc(size);
    if (!memory)
        return nullptr;
    auto *batch = new (memory) Batch;
    auto *end = reinterpret_cast<char *>(batch + 1);
    if (wants_statuses) {
        batch->statuses = reinterpret_cast<MPI_Status *>(end);
        end += n * sizeof(MPI_Status);
    }
    batch->requests = reinterpret_cast<MPI_Request *>(end);
    batch->test = Batch::poll;
    batch->finished = Batch::deliver;
    batch->count = count;
    for (int i = 0; i < count; ++i) {
        batch->requests[i] = requests[i];
        requests[i] = MPI_REQUEST_NULL;
    }
    return batch;
}

// Complete at once if possible, else file it.
int hand_over(Batch &batch) {
    if (test_once(batch)) {
        const int error = batch.error;
        Batch::deliver(batch);
        return error;
    }
    begin_pending();
    file(batch);
    return MPI_SUCCESS;
}

template <class Prepare>
int detach(int count, MPI_Request *requests, bool wants_statuses, Prepare prepare) {
    if (count < 0)
        return MPI_ERR_COUNT;
    Batch *batch = make_batch(count, requests, wants_statuses);
    if (!batch)
        return MPI_ERR_NO_MEM;
    prepare(*batch);
    return hand_over(*batch);
}

int bind(int count, MPI_Request *requests, MPI_Status *statuses) {
    return detach(count, requests, statuses != nullptr, [&](Batch &batch) {
        batch.user_statuses = statuses;
        batch.bound = current_task();
        bind_event(batch.bound);
    });
}

bool ignored(const MPI_Status *status) {
    // MPICH has one value for both.
    const MPI_Status *const none[] = {MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE};
    return status == none[0] || status == none[1];
}

} // namespace

extern "C" {

SENNIT_MPI_EXPORT int TAMPI_Iwait(MPI_Request *request, MPI_Status *status) {
    if (!in_task())
        return MPI_Wait(request, status);
    return bind(1, request, ignored(status) ? nullptr : status);
}

SENNIT_MPI_EXPORT int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (!in_task())
        return MPI_Waitall(count, requests, statuses);
    return bind(count, requests, ignored(statuses) ? nullptr : statuses);
}

SENNIT_MPI_EXPORT int MPIX_Detach(MPI_Request *request, MPIX_Detach_function *callback,
                                  void *data) {
    return MPIX_Detach_all(1, request, callback, data);
}

SENNIT_MPI_EXPORT int MPIX_Detach_status(MPI_Request *request,
                                         MPIX_Detach_status_function *callback, void *data) {
    return detach(1, request, true, [&](Batch &batch) {
        batch.with_status = callback;
        batch.data = data;
    });
}

SENNIT_MPI_EXPORT int MPIX_Detach_each(int count, MPI_Request requests[],
                                       MPIX_Detach_function *callback, void *array_of_data[]) {
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; ++i)
        error = MPIX_Detach(requests + i, callback, array_of_data[i]);
    return error;
}

SENNIT_MPI_EXPORT int MPIX_Detach_each_status(int count, MPI_Request requests[],
                                              MPIX_Detach_status_function *callback,
                                              void *array_of_data[]) {
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; ++i)
        error = MPIX_Detach_status(requests + i, callback, array_of_data[i]);
    return error;
}

SENNIT_MPI_EXPORT int MPIX_Detach_all(int count, MPI_Request requests[],
                                      MPIX_Detach_function *callback, void *data) {
    return detach(count, requests, false, [&](Batch &batch) {
        batch.plain = callback;
        batch.data = data;
    });
}

SENNIT_MPI_EXPORT int MPIX_Detach_all_status(int count, MPI_Request requests[],
                                             MPIX_Detach_all_statuses_function *callback,
                                             void *data) {
    return detach(count, requests, true, [&](Batch &batch) {
        batch.with_statuses = callback;
        batch.data = data;
    });
}

SENNIT_MPI_EXPORT int MPIX_Progress(void *) {
    progress();
    return MPI_SUCCESS;
}

} // extern "C"
