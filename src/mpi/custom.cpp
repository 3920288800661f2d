// SPDX-License-Identifier: Apache-2.0
// The calls that are not "start the twin and wait": initialization, probes, waits on the user's own
// requests, Sendrecv.
#include "mpi/engine.h"

#include "TAMPI.h"

#include <cstdio>
#include <cstdlib>
#include <sched.h>

using namespace sennit::mpi;

#define SENNIT_DEFINE(name, ...)                                                                   \
    extern "C" int sennit_MPI_##name(__VA_ARGS__);                                                 \
    extern "C" SENNIT_MPI_EXPORT int MPI_##name(__VA_ARGS__)                                       \
        __attribute__((alias("sennit_MPI_" #name)));                                               \
    extern "C" SENNIT_MPI_EXPORT int PMPI_##name(__VA_ARGS__)                                      \
        __attribute__((alias("sennit_MPI_" #name)));                                               \
    extern "C" int sennit_MPI_##name(__VA_ARGS__)

// ---- life of the library --------------------------------------------------------------------

namespace {

std::atomic<int> g_level{-1}; // what the program was told

int init(int *argc, char ***argv, int required, int *provided) {
    static const auto bare = SENNIT_BARE(Init_thread);
    const bool tasks = runtime_present();
    const bool task_multiple = required == MPI_TASK_MULTIPLE;
    const int asked = tasks || task_multiple ? MPI_THREAD_MULTIPLE : required;
    int got = MPI_THREAD_SINGLE;
    const int error = outside_task([&] { return bare(argc, argv, asked, &got); });
    if (error != MPI_SUCCESS)
        return error;
    if (tasks && got < MPI_THREAD_MULTIPLE)
        std::fprintf(stderr,
                     "sennit: this MPI does not provide MPI_THREAD_MULTIPLE: calls inside tasks "
                     "block their thread as without Sennit\n");
    set_multiple(tasks && got >= MPI_THREAD_MULTIPLE);
    const int level =
        task_multiple && tasks && got >= MPI_THREAD_MULTIPLE ? MPI_TASK_MULTIPLE : got;
    g_level.store(level, std::memory_order_release);
    if (provided)
        *provided = level;
    return MPI_SUCCESS;
}

} // namespace

SENNIT_DEFINE(Init, int *argc, char ***argv) {
    return init(argc, argv, MPI_THREAD_SINGLE, nullptr);
}

SENNIT_DEFINE(Init_thread, int *argc, char ***argv, int required, int *provided) {
    return init(argc, argv, required, provided);
}

SENNIT_DEFINE(Query_thread, int *provided) {
    const int level = g_level.load(std::memory_order_acquire);
    if (level == MPI_TASK_MULTIPLE) {
        *provided = level;
        return MPI_SUCCESS;
    }
    static const auto bare = SENNIT_BARE(Query_thread);
    return outside_task([&] { return bare(provided); });
}

SENNIT_DEFINE(Finalize, void) {
    // Operations that were detached or bound to tasks must not be lost.
    while (pending() > 0)
        if (progress() == 0)
            sched_yield();
    set_multiple(false);
    static const auto bare = SENNIT_BARE(Finalize);
    return outside_task([&] { return bare(); });
}

// ---- probes ---------------------------------------------------------------------------------

namespace {

struct ProbeTicket : Ticket {
    int source;
    int tag;
    MPI_Comm comm;
    MPI_Message *message = nullptr;

    static bool poll(Ticket &ticket) {
        static const auto iprobe = SENNIT_BARE(Iprobe);
        static const auto improbe = SENNIT_BARE(Improbe);
        auto &self = static_cast<ProbeTicket &>(ticket);
        int flag = 0;
        self.error = self.message ? improbe(self.source, self.tag, self.comm, &flag, self.message,
                                            self.status)
                                  : iprobe(self.source, self.tag, self.comm, &flag, self.status);
        return flag || self.error != MPI_SUCCESS;
    }
};

int probe(const char *name, int source, int tag, MPI_Comm comm, MPI_Message *message,
          MPI_Status *status) {
    ProbeTicket ticket;
    ticket.test = ProbeTicket::poll;
    ticket.status = status;
    ticket.source = source;
    ticket.tag = tag;
    ticket.comm = comm;
    ticket.message = message;
    notify(Notice::receive, source);
    return wait_for({name, Notice::receive, source, tag}, ticket);
}

} // namespace

SENNIT_DEFINE(Probe, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    if (in_task(source == MPI_PROC_NULL))
        return probe("MPI_Probe", source, tag, comm, nullptr, status);
    static const auto bare = SENNIT_BARE(Probe);
    return outside_task([&] { return bare(source, tag, comm, status); });
}

SENNIT_DEFINE(Mprobe, int source, int tag, MPI_Comm comm, MPI_Message *message,
              MPI_Status *status) {
    if (in_task(source == MPI_PROC_NULL))
        return probe("MPI_Mprobe", source, tag, comm, message, status);
    static const auto bare = SENNIT_BARE(Mprobe);
    return outside_task([&] { return bare(source, tag, comm, message, status); });
}

// ---- waits on the user's requests -------------------------------------------------------------

namespace {

struct WaitTicket : Ticket {
    int count;
    MPI_Request *requests;
    int *outcount = nullptr; // Waitsome; Waitany: the index
    int *indices = nullptr;

    static bool all(Ticket &ticket) {
        static const auto testall = SENNIT_BARE(Testall);
        auto &self = static_cast<WaitTicket &>(ticket);
        int flag = 0;
        self.error = testall(self.count, self.requests, &flag, self.status);
        return flag || self.error != MPI_SUCCESS;
    }
    static bool any(Ticket &ticket) {
        static const auto testany = SENNIT_BARE(Testany);
        auto &self = static_cast<WaitTicket &>(ticket);
        int flag = 0;
        self.error = testany(self.count, self.requests, self.outcount, &flag, self.status);
        return flag || self.error != MPI_SUCCESS;
    }
    static bool some(Ticket &ticket) {
        static const auto testsome = SENNIT_BARE(Testsome);
        auto &self = static_cast<WaitTicket &>(ticket);
        self.error = testsome(self.count, self.requests, self.outcount, self.indices, self.status);
        return *self.outcount != 0 || self.error != MPI_SUCCESS; // MPI_UNDEFINED: none active
    }
};

int wait_many(const char *name, bool (*test)(Ticket &), int count, MPI_Request *requests,
              int *outcount, int *indices, MPI_Status *statuses) {
    WaitTicket ticket;
    ticket.test = test;
    ticket.status = statuses;
    ticket.count = count;
    ticket.requests = requests;
    ticket.outcount = outcount;
    ticket.indices = indices;
    return wait_for({name}, ticket);
}

} // namespace

SENNIT_DEFINE(Wait, MPI_Request *request, MPI_Status *status) {
    if (!in_task()) {
        static const auto bare = SENNIT_BARE(Wait);
        return outside_task([&] { return bare(request, status); });
    }
    Ticket ticket;
    ticket.handle = request;
    ticket.status = status;
    return wait_for({"MPI_Wait"}, ticket);
}

SENNIT_DEFINE(Waitall, int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (in_task())
        return wait_many("MPI_Waitall", WaitTicket::all, count, requests, nullptr, nullptr,
                         statuses);
    static const auto bare = SENNIT_BARE(Waitall);
    return outside_task([&] { return bare(count, requests, statuses); });
}

SENNIT_DEFINE(Waitany, int count, MPI_Request requests[], int *index, MPI_Status *status) {
    if (in_task())
        return wait_many("MPI_Waitany", WaitTicket::any, count, requests, index, nullptr, status);
    static const auto bare = SENNIT_BARE(Waitany);
    return outside_task([&] { return bare(count, requests, index, status); });
}

SENNIT_DEFINE(Waitsome, int count, MPI_Request requests[], int *outcount, int indices[],
              MPI_Status statuses[]) {
    if (in_task())
        return wait_many("MPI_Waitsome", WaitTicket::some, count, requests, outcount, indices,
                         statuses);
    static const auto bare = SENNIT_BARE(Waitsome);
    return outside_task([&] { return bare(count, requests, outcount, indices, statuses); });
}

// ---- Sendrecv ---------------------------------------------------------------------------------

namespace {

// Send and receive at once, both started before either is waited for.
int send_and_receive(const void *send, int send_count, MPI_Datatype send_type, int dest,
                     int send_tag, void *receive, int receive_count, MPI_Datatype receive_type,
                     int source, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    static const auto irecv = SENNIT_BARE(Irecv);
    static const auto isend = SENNIT_BARE(Isend);
    static const auto cancel = SENNIT_BARE(Cancel);
    Ticket receiving;
    receiving.status = status;
    Ticket sending;
    static const auto recv = SENNIT_BARE(Recv);
    int error = outside_task([&] {
        // From nobody: over at once, with the status that bare MPI gives.
        if (source == MPI_PROC_NULL)
            return recv(receive, receive_count, receive_type, source, receive_tag, comm, status);
        return irecv(receive, receive_count, receive_type, source, receive_tag, comm,
                     &receiving.request);
    });
    if (error != MPI_SUCCESS)
        return error;
    notify(Notice::send, dest);
    error = outside_task(
        [&] { return isend(send, send_count, send_type, dest, send_tag, comm, &sending.request); });
    if (error != MPI_SUCCESS) {
        outside_task([&] { return cancel(&receiving.request); });
        receiving.status = MPI_STATUS_IGNORE;
        wait_for({"MPI_Sendrecv"}, receiving);
        return error;
    }
    if (source == MPI_PROC_NULL)
        receiving.status = MPI_STATUS_IGNORE; // written already; the null request must not
    error = wait_for({"MPI_Sendrecv", Notice::send, dest, send_tag}, sending);
    const int received =
        wait_for({"MPI_Sendrecv", Notice::receive, source, receive_tag}, receiving);
    return received != MPI_SUCCESS ? received : error;
}

} // namespace

SENNIT_DEFINE(Sendrecv, const void *send, int send_count, MPI_Datatype send_type, int dest,
              int send_tag, void *receive, int receive_count, MPI_Datatype receive_type, int source,
              int receive_tag, MPI_Comm comm, MPI_Status *status) {
    if (in_task())
        return send_and_receive(send, send_count, send_type, dest, send_tag, receive, receive_count,
                                receive_type, source, receive_tag, comm, status);
    static const auto bare = SENNIT_BARE(Sendrecv);
    return outside_task([&] {
        return bare(send, send_count, send_type, dest, send_tag, receive, receive_count,
                    receive_type, source, receive_tag, comm, status);
    });
}

SENNIT_DEFINE(Sendrecv_replace, void *buffer, int count, MPI_Datatype type, int dest, int send_tag,
              int source, int receive_tag, MPI_Comm comm, MPI_Status *status) {
    if (!in_task()) {
        static const auto bare = SENNIT_BARE(Sendrecv_replace);
        return outside_task([&] {
            return bare(buffer, count, type, dest, send_tag, source, receive_tag, comm, status);
        });
    }
    // Packed data may be received with the type that it was packed from.
    static const auto pack_size = SENNIT_BARE(Pack_size);
    static const auto pack = SENNIT_BARE(Pack);
    int size = 0;
    int error = outside_task([&] { return pack_size(count, type, comm, &size); });
    if (error != MPI_SUCCESS)
        return error;
    void *copy = std::malloc(size > 0 ? static_cast<std::size_t>(size) : 1);
    if (!copy)
        return MPI_ERR_NO_MEM;
    int packed = 0;
    error = outside_task([&] { return pack(buffer, count, type, copy, size, &packed, comm); });
    if (error == MPI_SUCCESS)
        error = send_and_receive(copy, packed, MPI_PACKED, dest, send_tag, buffer, count, type,
                                 source, receive_tag, comm, status);
    std::free(copy);
    return error;
}
