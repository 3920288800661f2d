// SPDX-License-Identifier: Apache-2.0
// MPIX_Detach* and MPIX_Start_detached* (MPI detach paper, section 4).
#include "mpi/call/call_path.h"
#include "mpi/engine/engine.h"
#include "mpi/extensions/batch.h"
#include "mpi/extensions/continuations.h"
#include "mpi/record/record.h"

#include "mpix_detach.h"

using namespace sennit::mpi;

namespace {

// The user's callback, of one of three types, is kept as void (*)().
template <class Function>
void (*keep(Function *callback))() {
    return reinterpret_cast<void (*)()>(callback);
}

void call_plain(Batch &batch) {
    reinterpret_cast<MPIX_Detach_function *>(batch.callback)(batch.data);
}
void call_with_status(Batch &batch) {
    reinterpret_cast<MPIX_Detach_status_function *>(batch.callback)(batch.data, batch.statuses);
}
void call_with_statuses(Batch &batch) {
    reinterpret_cast<MPIX_Detach_all_statuses_function *>(batch.callback)(batch.data, batch.count,
                                                                          batch.statuses);
}

struct Delivery {
    void (*deliver)(Batch &batch);
    void (*function)();
    bool wants_statuses;
};
Delivery plain(MPIX_Detach_function *callback) {
    return {call_plain, keep(callback), false};
}
Delivery with_status(MPIX_Detach_status_function *callback) {
    return {call_with_status, keep(callback), true};
}
Delivery with_statuses(MPIX_Detach_all_statuses_function *callback) {
    return {call_with_statuses, keep(callback), true};
}

// May the callback be called here and now, if the operation is complete already?
bool may_tell_at_once(const Delivery &callback) {
    return g_calls.obstacles.load(std::memory_order_relaxed) == 0 &&
           !g_extensions.callbacks.goes_elsewhere(callback.function, true) &&
           !g_extensions.callbacks.too_many(callback.function);
}

// Then a single request needs no memory. True: it is complete. `error` is what the test said.
bool over_and_told(const char *name, MPI_Request *request, const Delivery &callback, void *data,
                   int &error) {
    MPI_Status status;
    if (callback.wants_statuses)
        status.MPI_ERROR = MPI_SUCCESS;
    MPI_Status *const wanted = callback.wants_statuses ? &status : MPI_STATUS_IGNORE;
    const MPI_Request handle = *request;
    const Tested tested = test_a_while(request, wanted);
    if (!tested.over)
        return false;
    if (*request == MPI_REQUEST_NULL) // else it is persistent, and the user keeps it
        g_record.requests.strike(handle);
    error = settle({.name = name}, tested, wanted);
    Batch batch;
    batch.operation.name = name;
    batch.statuses = callback.wants_statuses ? &status : nullptr;
    batch.count = 1;
    batch.deliver = callback.deliver;
    batch.callback = callback.function;
    batch.data = data;
    g_extensions.callbacks.run_here(
        callback.function,
        [](void *told) { static_cast<Batch *>(told)->deliver(*static_cast<Batch *>(told)); },
        &batch);
    return true;
}

// Detach the requests. Kept ones are persistent, and are started here.
int detach(const char *name, int count, MPI_Request *requests, const Delivery &callback, void *data,
           Requests what) {
    if (count < 0)
        return MPI_ERR_COUNT;
    if (what == Requests::kept) {
        static constexpr auto startall = SENNIT_BARE(Startall);
        g_record.starts(count, requests);
        const int error = outside_task([&] { return startall(count, requests); });
        if (error != MPI_SUCCESS)
            return error;
        g_record.started(count, requests);
    }
    // Nobody can know what another function completes. But a task that has an event waits for it.
    g_record.timeline.completes(
        requests, count,
        Callbacks::fulfils_event(callback.function) ? reinterpret_cast<std::uintptr_t>(data) : 0);
    Callbacks::expect();
    int error = MPI_SUCCESS;
    const bool tests = count == 1 && what == Requests::waited_for && may_tell_at_once(callback);
    if (tests && over_and_told(name, requests, callback, data, error))
        return error;
    Batch *batch = make_batch(name, count, requests, callback.wants_statuses, what);
    if (!batch)
        return MPI_ERR_NO_MEM;
    batch->deliver = callback.deliver;
    batch->callback = callback.function;
    batch->data = data;
    bind_if_undeferred(*batch);
    error = tests ? file(*batch) : hand_over(*batch);
    g_engine.progress_thread.wake();
    return error;
}

int detach_each(const char *name, int count, MPI_Request *requests, const Delivery &callback,
                void *const *array_of_data, Requests what) {
    int error = count < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; ++i)
        error = detach(name, 1, requests + i, callback, array_of_data[i], what);
    return error;
}

// Any call that looks for messages of all ranks does; on MPI_COMM_SELF, MPICH looks for none. A
// message that it finds, with the greatest tag that every MPI has, stays where it is.
void look_for_messages() {
    static constexpr auto probe = SENNIT_BARE(Iprobe);
    constexpr int tag = 32767;
    int found = 0;
    if (!knows_constants() || !mpi_is_open())
        return;
    outside_task(
        [&] { return probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); });
    has_called_mpi();
}

} // namespace

extern "C" {

SENNIT_EXPORT int MPIX_Detach(MPI_Request *request, MPIX_Detach_function *callback, void *data) {
    return detach("MPIX_Detach", 1, request, plain(callback), data, Requests::waited_for);
}

SENNIT_EXPORT int MPIX_Detach_status(MPI_Request *request, MPIX_Detach_status_function *callback,
                                     void *data) {
    return detach("MPIX_Detach_status", 1, request, with_status(callback), data,
                  Requests::waited_for);
}

SENNIT_EXPORT int MPIX_Detach_each(int count, MPI_Request requests[],
                                   MPIX_Detach_function *callback, void *array_of_data[]) {
    return detach_each("MPIX_Detach_each", count, requests, plain(callback), array_of_data,
                       Requests::waited_for);
}

SENNIT_EXPORT int MPIX_Detach_each_status(int count, MPI_Request requests[],
                                          MPIX_Detach_status_function *callback,
                                          void *array_of_data[]) {
    return detach_each("MPIX_Detach_each_status", count, requests, with_status(callback),
                       array_of_data, Requests::waited_for);
}

SENNIT_EXPORT int MPIX_Detach_all(int count, MPI_Request requests[], MPIX_Detach_function *callback,
                                  void *data) {
    return detach("MPIX_Detach_all", count, requests, plain(callback), data, Requests::waited_for);
}

SENNIT_EXPORT int MPIX_Detach_all_status(int count, MPI_Request requests[],
                                         MPIX_Detach_all_statuses_function *callback, void *data) {
    return detach("MPIX_Detach_all_status", count, requests, with_statuses(callback), data,
                  Requests::waited_for);
}

SENNIT_EXPORT int MPIX_Start_detached(MPI_Request *request, MPIX_Detach_function *callback,
                                      void *data) {
    return detach("MPIX_Start_detached", 1, request, plain(callback), data, Requests::kept);
}

SENNIT_EXPORT int MPIX_Start_detached_status(MPI_Request *request,
                                             MPIX_Detach_status_function *callback, void *data) {
    return detach("MPIX_Start_detached_status", 1, request, with_status(callback), data,
                  Requests::kept);
}

SENNIT_EXPORT int MPIX_Start_detached_each(int count, MPI_Request requests[],
                                           MPIX_Detach_function *callback, void *array_of_data[]) {
    return detach_each("MPIX_Start_detached_each", count, requests, plain(callback), array_of_data,
                       Requests::kept);
}

SENNIT_EXPORT int MPIX_Start_detached_each_status(int count, MPI_Request requests[],
                                                  MPIX_Detach_status_function *callback,
                                                  void *array_of_data[]) {
    return detach_each("MPIX_Start_detached_each_status", count, requests, with_status(callback),
                       array_of_data, Requests::kept);
}

SENNIT_EXPORT int MPIX_Start_detached_all(int count, MPI_Request requests[],
                                          MPIX_Detach_function *callback, void *data) {
    return detach("MPIX_Start_detached_all", count, requests, plain(callback), data,
                  Requests::kept);
}

SENNIT_EXPORT int MPIX_Start_detached_all_status(int count, MPI_Request requests[],
                                                 MPIX_Detach_all_statuses_function *callback,
                                                 void *data) {
    return detach("MPIX_Start_detached_all_status", count, requests, with_statuses(callback), data,
                  Requests::kept);
}

// Section 4.3: MPI goes on with whatever is under way, whether it was detached or not.
SENNIT_EXPORT int MPIX_Progress(void *) {
    if (g_engine.tickets.pending() == 0)
        look_for_messages();
    if (g_engine.progress() == 0)
        note_test_in_vain();
    return MPI_SUCCESS;
}

} // extern "C"
