// SPDX-License-Identifier: Apache-2.0
// A network with a latency and a bandwidth, put between a program (or Sennit) and MPI on one
// machine, so that experiments meet what a cluster would do to them:
//
//     SENNIT_NETWORK=latency:US[,bandwidth:MB/s][,eager:BYTES][,patience:S][,payload:BYTES]
//
// Each process has one card. Messages leave it one after the other, in the order in which their
// sends are called, each for its size / bandwidth; a message arrives `latency` after its last byte
// has left. A send is complete when its last byte has left. `payload`: of each message only so many
// bytes are carried in truth, for programs that emulate and look at no data. Calls that wait do so
// without using a core.
//
// `eager`: a longer message does not leave before its receive has been called, as with any real
// MPI: its sender asks, the receiver answers when it has called, each a latency. For programs whose
// receives (Recv, Irecv, Sendrecv) name their sender and tag; messages on MPI_COMM_WORLD. When one
// has waited for `patience` seconds the others' receives do not count any more.
//
// Covered: Send, Isend, Ssend, Issend, Rsend, Irsend, Sendrecv of predefined types. What
// collectives, one-sided operations and other datatypes send passes at once.
//
// The calls of MPI that this library stands in front of. A send hands its message to the wire; the
// program's request is a generalized one. That a receive has been called is told past MPI
// (receives.h), for MPI would have to be asked all the time.
#include "mpi/interpose/bare.h"
#include "mpi/interpose/statuses.h"
#include "network/bare.h"
#include "network/receives.h"
#include "network/wire.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define DEFINE(name, ...) SENNIT_INTERPOSE(network_MPI_##name, MPI_##name, PMPI_##name, __VA_ARGS__)

namespace sennit::network {

void *find_bare(const char *name) {
    void *found = sennit::interpose::find_next(name);
    if (!found) {
        std::fprintf(stderr, "sennit: the MPI library has no %s: SENNIT_NETWORK cannot work\n",
                     name);
        std::abort();
    }
    return found;
}

} // namespace sennit::network

namespace {

using sennit::network::DelayedSend;
using sennit::network::g_receives;
using sennit::network::g_wire;
using sennit::network::nap;
using sennit::network::Start;

bool multiple() {
    static constexpr auto query = BARE(Query_thread);
    static const bool is = [] {
        int level = MPI_THREAD_SINGLE;
        return query(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
    }();
    return is;
}

// Is there such a rank? If not, MPI says so to the sender.
bool exists(int peer, MPI_Comm comm) {
    static constexpr auto is_inter = BARE(Comm_test_inter);
    static constexpr auto size = BARE(Comm_size);
    static constexpr auto remote_size = BARE(Comm_remote_size);
    int inter = 0;
    int ranks = 0;
    return peer >= 0 && comm != MPI_COMM_NULL && is_inter(comm, &inter) == MPI_SUCCESS &&
           (inter ? remote_size : size)(comm, &ranks) == MPI_SUCCESS && peer < ranks;
}

// Bytes of a message of a predefined type. -1: the type is another one, the message goes to nobody,
// or there is no network.
std::int64_t bytes_of(int count, MPI_Datatype type, int peer, MPI_Comm comm) {
    if (!g_wire.on() || count < 0 || !multiple() || !exists(peer, comm))
        return -1;
    static constexpr auto envelope = BARE(Type_get_envelope);
    static constexpr auto size_of = BARE(Type_size);
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    int size = 0;
    if (envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
        combiner != MPI_COMBINER_NAMED || size_of(type, &size) != MPI_SUCCESS)
        return -1;
    return std::int64_t{count} * size;
}

int nothing_to_query(void *, MPI_Status *status) {
    static constexpr auto set_elements = BARE(Status_set_elements);
    static constexpr auto set_cancelled = BARE(Status_set_cancelled);
    set_elements(status, MPI_BYTE, 0);
    set_cancelled(status, 0);
    return MPI_SUCCESS;
}
int nothing_to_free(void *) {
    return MPI_SUCCESS;
}
int never_cancel(void *, int) {
    return MPI_SUCCESS;
}

int send_later(Start start, const void *data, int count, MPI_Datatype type, int peer, int tag,
               MPI_Comm comm, MPI_Request *request) {
    const std::int64_t bytes = bytes_of(count, type, peer, comm);
    if (bytes < 0)
        return start(data, count, type, peer, tag, comm, request);
    static constexpr auto make = BARE(Grequest_start);
    const int error = make(nothing_to_query, nothing_to_free, never_cancel, nullptr, request);
    if (error != MPI_SUCCESS)
        return error;
    DelayedSend message{start, data, count, type,
                        peer,  tag,  comm,  static_cast<std::uint64_t>(bytes)};
    message.request = *request;
    if (!g_wire.hand_over(message))
        return start(data, count, type, peer, tag, comm, request);
    return MPI_SUCCESS;
}

using Send = decltype(&MPI_Send);

int send_now(Send bare, Start start, const void *data, int count, MPI_Datatype type, int peer,
             int tag, MPI_Comm comm) {
    const std::int64_t bytes = bytes_of(count, type, peer, comm);
    if (bytes < 0)
        return bare(data, count, type, peer, tag, comm);
    std::atomic<bool> left{false};
    DelayedSend message{start, data, count, type,
                        peer,  tag,  comm,  static_cast<std::uint64_t>(bytes)};
    message.left = &left;
    if (!g_wire.hand_over(message))
        return bare(data, count, type, peer, tag, comm);
    while (!left.load(std::memory_order_acquire))
        nap();
    return MPI_SUCCESS;
}

// MPICH takes one message out of its queue each time that it is asked. So it is asked several times
// between two naps. Otherwise messages that came together would be a nap apart.
constexpr int kTests = 16;

template <class Test>
int wait_without_core(Test test) {
    for (;; nap())
        for (int i = 0; i < kTests; ++i) {
            int over = 0;
            const int error = test(&over);
            if (error != MPI_SUCCESS || over)
                return error;
        }
}

// A thread of this library sends the messages.
int begin(int *argc, char ***argv, int required, int *provided) {
    static constexpr auto bare = BARE(Init_thread);
    int got = MPI_THREAD_SINGLE;
    const int error = bare(argc, argv, g_wire.on() ? MPI_THREAD_MULTIPLE : required, &got);
    if (error != MPI_SUCCESS)
        return error;
    if (provided)
        *provided = got;
    if (g_wire.on() && !multiple())
        std::fputs("sennit: this MPI does not provide MPI_THREAD_MULTIPLE: going on without "
                   "SENNIT_NETWORK\n",
                   stderr);
    else if (g_wire.asks())
        g_receives.begin();
    return MPI_SUCCESS;
}

} // namespace

#define SEND(name, iname)                                                                          \
    DEFINE(name, const void *data, int count, MPI_Datatype type, int peer, int tag,                \
           MPI_Comm comm) {                                                                        \
        static constexpr auto bare = BARE(name);                                                   \
        static constexpr auto start = BARE(iname);                                                 \
        return send_now(bare, start, data, count, type, peer, tag, comm);                          \
    }                                                                                              \
    DEFINE(iname, const void *data, int count, MPI_Datatype type, int peer, int tag,               \
           MPI_Comm comm, MPI_Request *request) {                                                  \
        static constexpr auto start = BARE(iname);                                                 \
        return send_later(start, data, count, type, peer, tag, comm, request);                     \
    }
SEND(Send, Isend)
SEND(Ssend, Issend)
SEND(Rsend, Irsend)

DEFINE(Wait, MPI_Request *request, MPI_Status *status) {
    static constexpr auto bare = BARE(Wait);
    static constexpr auto test = BARE(Test);
    if (!g_wire.on())
        return bare(request, status);
    return wait_without_core([&](int *over) { return test(request, over, status); });
}

// One after the other: MPICH 4.0's MPI_Testall fails with several partitioned requests or
// persistent collectives of which one is complete (mpi/quirks/requests.h).
DEFINE(Waitall, int count, MPI_Request requests[], MPI_Status statuses[]) {
    static constexpr auto bare = BARE(Waitall);
    if (!g_wire.on() || count < 0)
        return bare(count, requests, statuses);
    const bool ignored = statuses == MPI_STATUSES_IGNORE;
    sennit::interpose::ErrorsInStatuses errors;
    for (int i = 0; i < count; ++i)
        errors.note(ignored ? nullptr : statuses, i,
                    network_MPI_Wait(&requests[i], ignored ? MPI_STATUS_IGNORE : &statuses[i]));
    return errors.result();
}

DEFINE(Irecv, void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Request *request) {
    static constexpr auto bare = BARE(Irecv);
    const int error = bare(data, count, type, peer, tag, comm, request);
    if (error == MPI_SUCCESS)
        g_receives.called(peer, tag, comm);
    return error;
}

DEFINE(Recv, void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Status *status) {
    static constexpr auto bare = BARE(Recv);
    if (!g_wire.on() || peer == MPI_PROC_NULL) // which has a status of its own
        return bare(data, count, type, peer, tag, comm, status);
    MPI_Request request;
    const int error = network_MPI_Irecv(data, count, type, peer, tag, comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, status) : error;
}

DEFINE(Sendrecv, const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
       void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
       MPI_Status *status) {
    static constexpr auto bare = BARE(Sendrecv);
    if (!g_wire.on() || from == MPI_PROC_NULL) // as in Recv
        return bare(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                    comm, status);
    MPI_Request request;
    int error = network_MPI_Irecv(in, in_count, in_type, from, in_tag, comm, &request);
    if (error == MPI_SUCCESS)
        error = network_MPI_Send(out, out_count, out_type, to, out_tag, comm);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, status) : error;
}

DEFINE(Barrier, MPI_Comm comm) {
    static constexpr auto bare = BARE(Barrier);
    static constexpr auto start = BARE(Ibarrier);
    if (!g_wire.on())
        return bare(comm);
    MPI_Request request;
    const int error = start(comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

DEFINE(Allreduce, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
       MPI_Comm comm) {
    static constexpr auto bare = BARE(Allreduce);
    static constexpr auto start = BARE(Iallreduce);
    if (!g_wire.on())
        return bare(in, out, count, type, op, comm);
    MPI_Request request;
    const int error = start(in, out, count, type, op, comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

DEFINE(Init, int *argc, char ***argv) {
    return begin(argc, argv, MPI_THREAD_SINGLE, nullptr);
}

DEFINE(Init_thread, int *argc, char ***argv, int required, int *provided) {
    return begin(argc, argv, required, provided);
}

DEFINE(Comm_free, MPI_Comm *comm) {
    static constexpr auto bare = BARE(Comm_free);
    g_wire.wait_for_arrivals(); // which may be on their way on it
    return bare(comm);
}

DEFINE(Comm_disconnect, MPI_Comm *comm) {
    static constexpr auto bare = BARE(Comm_disconnect);
    g_wire.wait_for_arrivals(); // which may be on their way on it
    return bare(comm);
}

DEFINE(Finalize, void) {
    static constexpr auto bare = BARE(Finalize);
    g_wire.stop();
    g_receives.end();
    return bare();
}
