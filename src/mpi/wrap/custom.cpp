// SPDX-License-Identifier: Apache-2.0
// The calls that are neither "start the twin and wait" nor "test until it is over": a wait for one
// of the user's requests, and Sendrecv.
#include "mpi/call/blocking.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/delegate.h"
#include "mpi/extensions/continuation.h"
#include "mpi/record/traced.h"

#include <cstdlib>
#include <limits>

using namespace sennit::mpi;

// Not a row that polls: waiting for one request is common, and many are tested at once.
namespace {

constexpr auto kWait = SENNIT_BARE(Wait);

constexpr sennit_call kWaits{"MPI_Wait", 0, 1};

[[gnu::noinline]] int attended_wait(MPI_Request *request, MPI_Status *status) {
    Traced traced({.name = "MPI_Wait",
                   .direction = 0,
                   .peer = -1,
                   .tag = -1,
                   .object = {},
                   .requests = 1,
                   .handles = request});
    status = traced.status(status);
    if (continuations() && !inside_mpi()) {
        static constexpr auto test = SENNIT_BARE(Test);
        return wait_attending({.name = "MPI_Wait", .requests = 1, .handles = request}, true, 1,
                              request, status, in_task(),
                              [&](int *flag) { return test(request, flag, status); });
    }
    if (!must_not_block()) {
        const Blocking mark(kWaits, 1, -1, handle_bits(request));
        return kWait(request, status);
    }
    const Operation operation = {.name = "MPI_Wait", .requests = 1, .handles = request};
    if (const int error = chaos::failure(operation))
        return error;
    Ticket ticket;
    ticket.handle = request;
    ticket.status = status;
    return wait_for(operation, ticket);
}

} // namespace

SENNIT_DEFINE(Wait, MPI_Request *request, MPI_Status *status) {
    const CallPath path = call_path();
    if (path == CallPath::marked && !is_marked()) [[likely]] {
        const BlockedMark mark(kWaits, 1, -1, handle_bits(request));
        return kWait(request, status);
    }
    return path == CallPath::bare ? kWait(request, status) : attended_wait(request, status);
}

namespace {

// The bare calls that Sendrecv is made of, with counts of type int or MPI_Count.
template <class Isend, class Irecv, class Recv>
struct Parts {
    Isend isend;
    Irecv irecv;
    Recv recv;
};

template <class Count>
struct Side {
    Count count;
    MPI_Datatype type;
    int peer;
    int tag;
};

// Wait for a request whose failure nobody is told of: an error handler was called already.
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
template <class Count, class... Calls>
int send_and_receive(const char *name, const Parts<Calls...> &bare, const void *send,
                     const Side<Count> &to, void *receive, const Side<Count> &from, MPI_Comm comm,
                     MPI_Status *status) {
    static constexpr auto cancel = SENNIT_BARE(Cancel);
    const Operation receives = {name, Notice::receive, from.peer, from.tag, communicator(comm),
                                {},   from.count};
    Operation sends = {name, Notice::send, to.peer, to.tag, communicator(comm), {}, to.count};
    sends.receives = &receives;
    if (const int failure = chaos::failure(sends))
        return failure;
    Ticket receiving;
    receiving.status = status;
    Ticket sending;
    int error = outside_task([&] {
        // From nobody: over at once, with the status that bare MPI gives.
        if (from.peer == MPI_PROC_NULL)
            return bare.recv(receive, from.count, from.type, from.peer, from.tag, comm, status);
        return bare.irecv(receive, from.count, from.type, from.peer, from.tag, comm,
                          &receiving.request);
    });
    if (error != MPI_SUCCESS)
        return error;
    begin_send(to.peer, to.tag, communicator(comm));
    error = outside_task([&] {
        return bare.isend(send, to.count, to.type, to.peer, to.tag, comm, &sending.request);
    });
    if (error != MPI_SUCCESS) {
        if (receiving.request != MPI_REQUEST_NULL)
            outside_task([&] { return cancel(&receiving.request); });
        wait_quietly(receives, receiving.request);
        return error;
    }
    if (from.peer == MPI_PROC_NULL)
        receiving.status = MPI_STATUS_IGNORE; // written already; the null request must not
    error = wait_for(sends, sending);
    if (error == MPI_SUCCESS)
        return wait_for(receives, receiving);
    wait_quietly(receives, receiving.request);
    return error;
}

// Of absolute addresses: the type for them behind a pointer that is not null, which MPICH 4.0's
// MPI_Pack refuses.
class Rebased {
  public:
    Rebased(const void *base, MPI_Datatype type) {
        static constexpr auto create = SENNIT_BARE(Type_create_hindexed);
        static constexpr auto commit = SENNIT_BARE(Type_commit);
        const int one = 1;
        const MPI_Aint back = -reinterpret_cast<MPI_Aint>(base);
        error = outside_task([&] {
            const int failure = create(1, &one, &back, type, &type_);
            return failure == MPI_SUCCESS ? commit(&type_) : failure;
        });
    }
    ~Rebased() {
        static constexpr auto free = SENNIT_BARE(Type_free);
        if (type_ != MPI_DATATYPE_NULL)
            outside_task([&] { return free(&type_); });
    }
    Rebased(const Rebased &) = delete;
    Rebased &operator=(const Rebased &) = delete;
    MPI_Datatype type() const { return type_; }
    int error = MPI_SUCCESS;

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// The same with one buffer: what is sent is packed first, and packed data may be received with the
// type that it was packed from. `whole` is the bare call, for more than can be packed.
template <class Count, class PackSize, class Pack, class Whole, class... Calls>
int exchange(const char *name, PackSize pack_size, Pack pack, Whole whole,
             const Parts<Calls...> &bare, void *buffer, Side<Count> to, const Side<Count> &from,
             MPI_Comm comm, MPI_Status *status) {
    if (to.peer == MPI_PROC_NULL || from.peer == MPI_PROC_NULL) // what is sent is not overwritten
        return send_and_receive(name, bare, buffer, to, buffer, from, comm, status);
    Count size = 0;
    int error = outside_task([&] { return pack_size(to.count, to.type, comm, &size); });
    if (error != MPI_SUCCESS)
        return error;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Count>::max());
    if (message_bytes(to.count, to.type) > most) { // and `size` is anything
        const Operation receives = {name, Notice::receive, from.peer, from.tag, communicator(comm),
                                    {},   from.count};
        Operation operation = {name, Notice::send, to.peer, to.tag, communicator(comm),
                               {},   to.count};
        operation.receives = &receives;
        if (const int failure = chaos::failure(operation))
            return failure;
        begin_send(to.peer, to.tag, communicator(comm));
        return delegate(operation, whole);
    }
    void *copy = std::malloc(size > 0 ? static_cast<std::size_t>(size) : 1);
    if (!copy)
        return MPI_ERR_NO_MEM;
    Count packed = 0;
    if (buffer == MPI_BOTTOM && to.count > 0) {
        const Rebased rebased(copy, to.type);
        error = rebased.error;
        if (error == MPI_SUCCESS)
            error = outside_task(
                [&] { return pack(copy, to.count, rebased.type(), copy, size, &packed, comm); });
    } else {
        error = outside_task(
            [&] { return pack(buffer, to.count, to.type, copy, size, &packed, comm); });
    }
    if (error == MPI_SUCCESS) {
        to.count = packed;
        to.type = MPI_PACKED;
        error = send_and_receive(name, bare, copy, to, buffer, from, comm, status);
    }
    std::free(copy);
    return error;
}

} // namespace

namespace {
// On the timeline: a send, and the call that receives.
struct TracedExchange : Traced {
    TracedExchange(const char *name, int dest, int send_tag, std::int64_t count, MPI_Datatype type,
                   int source, int receive_tag, MPI_Comm comm)
        : Traced(
              (trace_post({name, SENNIT_NOTICE_SEND, dest, send_tag, communicator(comm)}, nullptr,
                          [&] { return message_bytes(count, type); }),
               CallFacts{name, SENNIT_NOTICE_RECEIVE, source, receive_tag, communicator(comm)})) {}
};
} // namespace

// The four calls differ in the type of counts and in names.
#define SENNIT_SENDRECV(suffix, Count)                                                             \
    SENNIT_DEFINE(Sendrecv##suffix, const void *send, Count send_count, MPI_Datatype send_type,    \
                  int dest, int send_tag, void *receive, Count receive_count,                      \
                  MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,           \
                  MPI_Status *status) {                                                            \
        static constexpr auto bare = SENNIT_BARE(Sendrecv##suffix);                                \
        const CallPath path = call_path();                                                         \
        if (path == CallPath::bare)                                                                \
            return bare(send, send_count, send_type, dest, send_tag, receive, receive_count,       \
                        receive_type, source, receive_tag, comm, status);                          \
        TracedExchange traced("MPI_Sendrecv" #suffix, dest, send_tag, send_count, send_type,       \
                              source, receive_tag, comm);                                          \
        status = traced.status(status);                                                            \
        if (path == CallPath::marked || !must_not_block()) {                                       \
            static constexpr sennit_call call{"MPI_Sendrecv" #suffix, kExchange, 0};               \
            const Blocking mark(call, source, receive_tag, handle_bits(comm), dest, send_tag);     \
            return bare(send, send_count, send_type, dest, send_tag, receive, receive_count,       \
                        receive_type, source, receive_tag, comm, status);                          \
        }                                                                                          \
        static constexpr Parts parts{SENNIT_BARE(Isend##suffix), SENNIT_BARE(Irecv##suffix),       \
                                     SENNIT_BARE(Recv##suffix)};                                   \
        return send_and_receive<Count>(                                                            \
            "MPI_Sendrecv" #suffix, parts, send, {send_count, send_type, dest, send_tag}, receive, \
            {receive_count, receive_type, source, receive_tag}, comm, status);                     \
    }                                                                                              \
    SENNIT_DEFINE(Sendrecv_replace##suffix, void *buffer, Count count, MPI_Datatype type,          \
                  int dest, int send_tag, int source, int receive_tag, MPI_Comm comm,              \
                  MPI_Status *status) {                                                            \
        static constexpr auto bare = SENNIT_BARE(Sendrecv_replace##suffix);                        \
        const CallPath path = call_path();                                                         \
        if (path == CallPath::bare)                                                                \
            return bare(buffer, count, type, dest, send_tag, source, receive_tag, comm, status);   \
        TracedExchange traced("MPI_Sendrecv_replace" #suffix, dest, send_tag, count, type, source, \
                              receive_tag, comm);                                                  \
        status = traced.status(status);                                                            \
        if (path == CallPath::marked || !must_not_block()) {                                       \
            static constexpr sennit_call call{"MPI_Sendrecv_replace" #suffix, kExchange, 0};       \
            const Blocking mark(call, source, receive_tag, handle_bits(comm), dest, send_tag);     \
            return bare(buffer, count, type, dest, send_tag, source, receive_tag, comm, status);   \
        }                                                                                          \
        static constexpr Parts parts{SENNIT_BARE(Isend##suffix), SENNIT_BARE(Irecv##suffix),       \
                                     SENNIT_BARE(Recv##suffix)};                                   \
        const auto whole = [&] {                                                                   \
            return bare(buffer, count, type, dest, send_tag, source, receive_tag, comm, status);   \
        };                                                                                         \
        return exchange<Count>("MPI_Sendrecv_replace" #suffix, SENNIT_BARE(Pack_size##suffix),     \
                               SENNIT_BARE(Pack##suffix), whole, parts, buffer,                    \
                               {count, type, dest, send_tag}, {count, type, source, receive_tag},  \
                               comm, status);                                                      \
    }

SENNIT_SENDRECV(, int)
#if MPI_VERSION >= 4
SENNIT_SENDRECV(_c, MPI_Count)
#endif
