// SPDX-License-Identifier: Apache-2.0
// Sendrecv and Sendrecv_replace: both directions are started before either is waited for.
#include "mpi/call/runtime.h"
#include "mpi/call/thread_state.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/delegate.h"
#include "mpi/engine/engine.h"
#include "mpi/quirks/arguments.h"
#include "mpi/record/traced.h"

#include "TAMPI.h"

#include <cstdlib>
#include <limits>

using namespace sennit::mpi;

namespace {

// The calls have two forms, which differ in names and in the type of counts.
#define SENNIT_SENDRECV_FORM(suffix)                                                               \
    static constexpr sennit_call kExchanges{"MPI_Sendrecv" #suffix, kExchange, 0};                 \
    static constexpr sennit_call kReplaces{"MPI_Sendrecv_replace" #suffix, kExchange, 0};          \
    static constexpr auto sendrecv = SENNIT_BARE(Sendrecv##suffix);                                \
    static constexpr auto sendrecv_replace = SENNIT_BARE(Sendrecv_replace##suffix);                \
    static constexpr auto isend = SENNIT_BARE(Isend##suffix);                                      \
    static constexpr auto irecv = SENNIT_BARE(Irecv##suffix);                                      \
    static constexpr auto recv = SENNIT_BARE(Recv##suffix);                                        \
    static constexpr auto pack_size = SENNIT_BARE(Pack_size##suffix);                              \
    static constexpr auto pack = SENNIT_BARE(Pack##suffix);
struct Plain {
    using Count = int;
    SENNIT_SENDRECV_FORM()
};
#if MPI_VERSION >= 4
struct Large {
    using Count = MPI_Count;
    SENNIT_SENDRECV_FORM(_c)
};
#endif

template <class Form>
struct Side {
    typename Form::Count count;
    MPI_Datatype type;
    int peer;
    int tag;
};

// Wait for a request. Nobody is told if it fails: an error handler was called already.
void wait_quietly(const Operation &operation, MPI_Request request) {
    static constexpr auto get_status = SENNIT_BARE(Request_get_status); // calls no handler
    static constexpr auto free_request = SENNIT_BARE(Request_free);
    if (request == MPI_REQUEST_NULL)
        return;
    poll_and_wait(operation, [&](int *flag) {
        MPI_Status status;
        get_status(request, flag, &status);
        return MPI_SUCCESS;
    });
    outside_task([&] { return free_request(&request); });
}

// Send and receive at once, both started before either is waited for.
template <class Form>
int send_and_receive(const char *name, Path path, const void *send, const Side<Form> &to,
                     void *receive, const Side<Form> &from, MPI_Comm comm, MPI_Status *status) {
    static constexpr auto cancel = SENNIT_BARE(Cancel);
    Operation receives = {name, Notice::receive, from.peer, from.tag, communicator(comm),
                          {},   from.count};
    Operation sends = {name, Notice::send, to.peer, to.tag, communicator(comm), {}, to.count};
    receives.path = sends.path = path;
    receives.type = handle_bits(from.type);
    sends.type = handle_bits(to.type);
    sends.receives = &receives;
    if (const int failure = g_chaos.failure(sends))
        return failure;
    Ticket receiving;
    receiving.status = status;
    Ticket sending;
    int error = outside_task([&] {
        // From nobody: it is complete at once, with the status that bare MPI gives.
        if (from.peer == MPI_PROC_NULL)
            return Form::recv(receive, from.count, from.type, from.peer, from.tag, comm, status);
        return Form::irecv(receive, from.count, from.type, from.peer, from.tag, comm,
                           &receiving.request);
    });
    if (error != MPI_SUCCESS)
        return error;
    g_engine.begin_send(to.peer, to.tag, communicator(comm));
    error = outside_task([&] {
        return Form::isend(send, to.count, to.type, to.peer, to.tag, comm, &sending.request);
    });
    rings(comm, to.peer, to.count, to.type, error, &sending.request);
    awaits(comm, from.peer, from.count, from.type, MPI_SUCCESS);
    note_length(receives);
    if (error != MPI_SUCCESS) {
        if (receiving.request != MPI_REQUEST_NULL)
            outside_task([&] { return cancel(&receiving.request); });
        wait_quietly(receives, receiving.request);
        return error;
    }
    if (from.peer == MPI_PROC_NULL)
        receiving.status = MPI_STATUS_IGNORE; // written already; the null request must not
    note_length(sends);
    error = g_engine.wait_for(sends, sending);
    if (error == MPI_SUCCESS)
        return g_engine.wait_for(receives, receiving);
    wait_quietly(receives, receiving.request);
    return error;
}

// The same with one buffer. What is sent is packed first. Packed data may be received with the type
// that it was packed from.
template <class Form>
int exchange(Path path, void *buffer, Side<Form> to, const Side<Form> &from, MPI_Comm comm,
             MPI_Status *status) {
    constexpr const char *name = Form::kReplaces.name;
    if (to.peer == MPI_PROC_NULL || from.peer == MPI_PROC_NULL) // what is sent is not overwritten
        return send_and_receive(name, path, buffer, to, buffer, from, comm, status);
    using Count = typename Form::Count;
    Count size = 0;
    int error = outside_task([&] { return Form::pack_size(to.count, to.type, comm, &size); });
    if (error != MPI_SUCCESS)
        return error;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Count>::max());
    if (message_bytes(to.count, to.type) > most) { // and `size` is anything
        const Operation receives = {name, Notice::receive, from.peer, from.tag, communicator(comm),
                                    {},   from.count};
        Operation operation = {name, Notice::send, to.peer, to.tag, communicator(comm),
                               {},   to.count};
        operation.receives = &receives;
        operation.path = without_twin(path);
        if (const int failure = g_chaos.failure(operation))
            return failure;
        g_engine.begin_send(to.peer, to.tag, communicator(comm));
        return delegate(operation, [&] {
            return Form::sendrecv_replace(buffer, to.count, to.type, to.peer, to.tag, from.peer,
                                          from.tag, comm, status);
        });
    }
    void *copy = std::malloc(size > 0 ? static_cast<std::size_t>(size) : 1);
    if (!copy)
        return MPI_ERR_NO_MEM;
    Count packed = 0;
    if (buffer == MPI_BOTTOM && to.count > 0) {
        const Rebased rebased(copy, to.type);
        error = rebased.error;
        if (error == MPI_SUCCESS)
            error = outside_task([&] {
                return Form::pack(copy, to.count, rebased.type(), copy, size, &packed, comm);
            });
    } else {
        error = outside_task(
            [&] { return Form::pack(buffer, to.count, to.type, copy, size, &packed, comm); });
    }
    if (error == MPI_SUCCESS) {
        to.count = packed;
        to.type = MPI_PACKED;
        error = send_and_receive(name, path, copy, to, buffer, from, comm, status);
    }
    std::free(copy);
    return error;
}

// On the timeline: a send, and the call that receives.
struct TracedExchange : Traced {
    TracedExchange(const char *name, int dest, int send_tag, std::int64_t count, MPI_Datatype type,
                   int source, int receive_tag, MPI_Comm comm)
        : Traced((
              g_record.timeline.post({name, SENNIT_NOTICE_SEND, dest, send_tag, communicator(comm)},
                                     nullptr, [&] { return message_bytes(count, type); }),
              CallFacts{name, SENNIT_NOTICE_RECEIVE, source, receive_tag, communicator(comm)})) {}
};

// What both calls do first. `bare` is the MPI's own, `in_task` what a task does in its place.
template <class Form, class Bare, class InTask>
int sendrecv_by_path(const sennit_call &call, const Side<Form> &to, const Side<Form> &from,
                     MPI_Comm comm, MPI_Status *status, Bare bare, InTask in_task) {
    const FirstLook look = first_look();
    if (look == FirstLook::bare)
        return bare(status);
    TracedExchange traced(call.name, to.peer, to.tag, to.count, to.type, from.peer, from.tag, comm);
    traced.replace(status);
    const Path path = look == FirstLook::marked ? Path::blocks : path_of_call();
    if (is_as_written(path)) {
        const Blocking mark(call, from.peer, from.tag, handle_bits(comm), to.peer, to.tag);
        return bare(status);
    }
    return in_task(path, status);
}

template <class Form>
int sendrecv(const void *send, const Side<Form> &to, void *receive, const Side<Form> &from,
             MPI_Comm comm, MPI_Status *status) {
    return sendrecv_by_path(
        Form::kExchanges, to, from, comm, status,
        [&](MPI_Status *own) {
            return Form::sendrecv(send, to.count, to.type, to.peer, to.tag, receive, from.count,
                                  from.type, from.peer, from.tag, comm, own);
        },
        [&](Path path, MPI_Status *own) {
            return send_and_receive(Form::kExchanges.name, path, send, to, receive, from, comm,
                                    own);
        });
}

template <class Form>
int sendrecv_replace(void *buffer, const Side<Form> &to, const Side<Form> &from, MPI_Comm comm,
                     MPI_Status *status) {
    return sendrecv_by_path(
        Form::kReplaces, to, from, comm, status,
        [&](MPI_Status *own) {
            return Form::sendrecv_replace(buffer, to.count, to.type, to.peer, to.tag, from.peer,
                                          from.tag, comm, own);
        },
        [&](Path path, MPI_Status *own) { return exchange(path, buffer, to, from, comm, own); });
}

} // namespace

SENNIT_DEFINE(Sendrecv, const void *send, int send_count, MPI_Datatype send_type, int dest,
              int send_tag, void *receive, int receive_count, MPI_Datatype receive_type, int source,
              int receive_tag, MPI_Comm comm, MPI_Status *status) {
    return sendrecv<Plain>(send, {send_count, send_type, dest, send_tag}, receive,
                           {receive_count, receive_type, source, receive_tag}, comm, status);
}

SENNIT_DEFINE(Sendrecv_replace, void *buffer, int count, MPI_Datatype type, int dest, int send_tag,
              int source, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    return sendrecv_replace<Plain>(buffer, {count, type, dest, send_tag},
                                   {count, type, source, receive_tag}, comm, status);
}

#if MPI_VERSION >= 4

SENNIT_DEFINE(Sendrecv_c, const void *send, MPI_Count send_count, MPI_Datatype send_type, int dest,
              int send_tag, void *receive, MPI_Count receive_count, MPI_Datatype receive_type,
              int source, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    return sendrecv<Large>(send, {send_count, send_type, dest, send_tag}, receive,
                           {receive_count, receive_type, source, receive_tag}, comm, status);
}

SENNIT_DEFINE(Sendrecv_replace_c, void *buffer, MPI_Count count, MPI_Datatype type, int dest,
              int send_tag, int source, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    return sendrecv_replace<Large>(buffer, {count, type, dest, send_tag},
                                   {count, type, source, receive_tag}, comm, status);
}

#endif

// For programs that the compiler plug-in has transformed (pass/library/slots.c): MPI_Sendrecv,
// bound to the task.
extern "C" SENNIT_EXPORT int sennit_mpi_sendrecv_bound(const void *out, int out_count,
                                                       MPI_Datatype out_type, int to, int out_tag,
                                                       void *in, int in_count, MPI_Datatype in_type,
                                                       int from, int in_tag, MPI_Comm comm,
                                                       MPI_Status *status) {
    if (!in_task())
        return MPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                            in_tag, comm, status);
    const int error = TAMPI_Isend(out, out_count, out_type, to, out_tag, comm);
    return error == MPI_SUCCESS ? TAMPI_Irecv(in, in_count, in_type, from, in_tag, comm, status)
                                : error;
}
