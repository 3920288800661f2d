// SPDX-License-Identifier: Apache-2.0
// A network with a latency and a bandwidth, put between a program (or Sennit) and MPI on one
// machine, so that experiments meet what a cluster would do to them:
//
//     SENNIT_NETWORK=latency:US[,bandwidth:MB/s][,payload:BYTES]
//
// Each process has one card. Messages leave it one after the other, in the order in which their
// sends are called, each for its size / bandwidth; a message arrives `latency` after its last byte
// has left. A send is complete when its last byte has left. `payload`: of each message only so many
// bytes are carried in truth, for programs that emulate and look at no data. Calls that wait do so
// without using a core.
//
// Covered: Send, Isend, Ssend, Issend, Rsend, Irsend of predefined types. What collectives,
// one-sided operations and other datatypes send passes at once.
//
// How: a send hands its message to a thread, which makes the true send at the time of arrival. The
// program's request is a generalized one. Messages of one process arrive in the order of their
// sends, so MPI's order of matching is kept.
#include "base/clock.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/prctl.h>

#define EXPORT __attribute__((visibility("default")))
#define DEFINE(name, ...)                                                                          \
    extern "C" int network_MPI_##name(__VA_ARGS__);                                                \
    extern "C" EXPORT int MPI_##name(__VA_ARGS__) __attribute__((alias("network_MPI_" #name)));    \
    extern "C" EXPORT int PMPI_##name(__VA_ARGS__) __attribute__((alias("network_MPI_" #name)));   \
    extern "C" int network_MPI_##name(__VA_ARGS__)
#define BARE(name) reinterpret_cast<decltype(&MPI_##name)>(find_bare("PMPI_" #name))

// Open MPI's constants are objects of the library. Weak: the preload reaches programs without MPI.
#ifdef OPEN_MPI
#pragma weak ompi_mpi_byte
#pragma weak ompi_request_null
#endif

namespace {

bool g_on = false;
std::uint64_t g_latency_ns = 0;
std::uint64_t g_bandwidth = 0; // MB/s; 0: no limit
std::uint64_t g_payload = UINT64_MAX;

constexpr long kNapNs = 50'000; // of calls that wait

void *find_bare(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        std::fprintf(stderr, "sennit: the MPI library has no %s: SENNIT_NETWORK cannot work\n",
                     name);
        std::abort();
    }
    return found;
}

bool read_word(const char *text, std::size_t length) {
    struct {
        const char *name;
        std::uint64_t *value;
        std::uint64_t factor;
    } const words[] = {{"latency:", &g_latency_ns, 1000},
                       {"bandwidth:", &g_bandwidth, 1},
                       {"payload:", &g_payload, 1}};
    for (const auto &word : words) {
        const std::size_t size = std::strlen(word.name);
        if (length <= size || std::strncmp(text, word.name, size) != 0 || text[size] < '0' ||
            text[size] > '9')
            continue;
        char *end = nullptr;
        errno = 0;
        const unsigned long long number = std::strtoull(text + size, &end, 10);
        if (errno != 0 || end != text + length || number > 60'000'000)
            return false;
        *word.value = number * word.factor;
        return true;
    }
    return false;
}

[[gnu::constructor]] void load() {
    const char *option = std::getenv("SENNIT_NETWORK");
    if (!option || !*option)
        return;
    for (const char *at = option;;) {
        const std::size_t length = std::strcspn(at, ",");
        if (!read_word(at, length)) {
            std::fprintf(stderr,
                         "sennit: SENNIT_NETWORK='%s': '%.*s': use "
                         "latency:US[,bandwidth:MB/s][,payload:BYTES]; going on without\n",
                         option, static_cast<int>(length), at);
            return;
        }
        at += length;
        if (*at == '\0')
            break;
        ++at;
    }
    g_on = true;
}

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(sennit::monotonic_ns());
}

void nap() {
    const timespec time{0, kNapNs};
    nanosleep(&time, nullptr);
}

// ---- messages ---------------------------------------------------------------------------------

using Start = decltype(&MPI_Isend);

struct Message {
    Start start;
    const void *data;
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
    std::size_t carried; // bytes
    std::uint64_t leaves;
    std::uint64_t arrives;
    MPI_Request request; // the program's, or null: it waits for `left`
    std::atomic<bool> *left;
    void *copy;
    MPI_Request bare; // the true send's
    Message *next;
};

struct List {
    Message *first = nullptr;
    Message *last = nullptr;
    void push(Message *message) {
        message->next = nullptr;
        (last ? last->next : first) = message;
        last = message;
    }
    Message *pop() {
        Message *message = first;
        first = message->next;
        if (!first)
            last = nullptr;
        return message;
    }
};

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_changed;
// In the order of their times:
List g_leaving;
List g_flying;
List g_arriving; // handed to MPI, not yet complete there; the thread's alone
std::uint64_t g_card_free = 0;
bool g_running = false;
bool g_stopping = false;
pthread_t g_thread;

// The last byte has left: the program may use the data again.
void leave(Message &message) {
    static const auto complete = BARE(Grequest_complete);
    message.copy = std::malloc(message.carried ? message.carried : 1);
    if (!message.copy) {
        std::fprintf(stderr, "sennit: SENNIT_NETWORK: no memory for a message\n");
        std::abort();
    }
    std::memcpy(message.copy, message.data, message.carried);
    if (message.left)
        message.left->store(true, std::memory_order_release);
    else
        complete(message.request);
}

void arrive(Message &message) {
    message.start(message.copy, message.count, message.type, message.peer, message.tag,
                  message.comm, &message.bare);
}

// Those that MPI is through with.
void collect() {
    static const auto test = BARE(Test);
    List rest;
    while (g_arriving.first) {
        Message *message = g_arriving.pop();
        int over = 0;
        if (test(&message->bare, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && !over) {
            rest.push(message);
        } else {
            std::free(message->copy);
            delete message;
        }
    }
    g_arriving = rest;
}

void *run(void *) {
    pthread_setname_np(pthread_self(), "sennit-network");
    prctl(PR_SET_TIMERSLACK, 1);
    pthread_mutex_lock(&g_mutex);
    for (;;) {
        const std::uint64_t now = now_ns();
        Message *message = nullptr;
        void (*step)(Message &) = nullptr;
        if (g_flying.first && g_flying.first->arrives <= now) {
            message = g_flying.pop();
            step = arrive;
        } else if (g_leaving.first && g_leaving.first->leaves <= now) {
            message = g_leaving.pop();
            step = leave;
        }
        if (message) {
            pthread_mutex_unlock(&g_mutex);
            step(*message);
            pthread_mutex_lock(&g_mutex);
            (step == leave ? g_flying : g_arriving).push(message);
            continue;
        }
        if (g_arriving.first) {
            pthread_mutex_unlock(&g_mutex);
            collect();
            pthread_mutex_lock(&g_mutex);
        }
        std::uint64_t until = UINT64_MAX;
        if (g_leaving.first)
            until = g_leaving.first->leaves;
        if (g_flying.first && g_flying.first->arrives < until)
            until = g_flying.first->arrives;
        if (g_arriving.first && now + 500'000 < until)
            until = now + 500'000;
        if (until == UINT64_MAX) {
            if (g_stopping)
                break;
            pthread_cond_wait(&g_changed, &g_mutex);
        } else {
            const timespec time{static_cast<time_t>(until / 1'000'000'000),
                                static_cast<long>(until % 1'000'000'000)};
            pthread_cond_timedwait(&g_changed, &g_mutex, &time);
        }
    }
    pthread_mutex_unlock(&g_mutex);
    return nullptr;
}

// With g_mutex.
bool start_thread() {
    if (g_running)
        return true;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&g_changed, &attributes);
    g_running = pthread_create(&g_thread, nullptr, run, nullptr) == 0;
    if (!g_running) {
        std::fprintf(stderr, "sennit: SENNIT_NETWORK: no thread for it: going on without\n");
        g_on = false;
    }
    return g_running;
}

bool multiple() {
    static const auto query = BARE(Query_thread);
    static const bool is = [] {
        int level = MPI_THREAD_SINGLE;
        return query(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
    }();
    return is;
}

// Bytes of a message of a predefined type; -1: of another, or there is no network.
std::int64_t bytes_of(int count, MPI_Datatype type, int peer) {
    if (!g_on || peer < 0 || count < 0 || !multiple())
        return -1;
    static const auto envelope = BARE(Type_get_envelope);
    static const auto size_of = BARE(Type_size);
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

// `made`: a message with what the caller knows. It is on its way when this returns.
bool hand_over(const Message &made, std::uint64_t bytes) {
    auto *message = new Message(made);
    if (bytes > g_payload && message->count > 0) {
        const std::uint64_t size = bytes / static_cast<std::uint64_t>(message->count);
        message->count = static_cast<int>((g_payload + size - 1) / size);
        bytes = static_cast<std::uint64_t>(message->count) * size;
    }
    message->carried = bytes;
    return pthread_mutex_lock(&g_mutex) == 0 && [&] {
        const bool good = start_thread();
        if (good) {
            const std::uint64_t now = now_ns();
            // 1 MB/s is one byte in 1000 ns.
            const std::uint64_t size = made.carried;
            g_card_free = (g_card_free > now ? g_card_free : now) +
                          (g_bandwidth ? size * 1000 / g_bandwidth : 0);
            message->leaves = g_card_free;
            message->arrives = g_card_free + g_latency_ns;
            const bool next = !g_leaving.first;
            g_leaving.push(message);
            if (next)
                pthread_cond_signal(&g_changed);
        } else {
            delete message;
        }
        pthread_mutex_unlock(&g_mutex);
        return good;
    }();
}

int nothing_to_query(void *, MPI_Status *status) {
    static const auto set_elements = BARE(Status_set_elements);
    static const auto set_cancelled = BARE(Status_set_cancelled);
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
    const std::int64_t bytes = bytes_of(count, type, peer);
    if (bytes < 0)
        return start(data, count, type, peer, tag, comm, request);
    static const auto make = BARE(Grequest_start);
    const int error = make(nothing_to_query, nothing_to_free, never_cancel, nullptr, request);
    if (error != MPI_SUCCESS)
        return error;
    Message message{start,  data, count, type,     peer,    tag,     comm,
                    0,      0,    0,     *request, nullptr, nullptr, MPI_REQUEST_NULL,
                    nullptr};
    message.carried = static_cast<std::size_t>(bytes);
    if (!hand_over(message, static_cast<std::uint64_t>(bytes)))
        return start(data, count, type, peer, tag, comm, request);
    return MPI_SUCCESS;
}

using Send = decltype(&MPI_Send);

int send_now(Send bare, Start start, const void *data, int count, MPI_Datatype type, int peer,
             int tag, MPI_Comm comm) {
    const std::int64_t bytes = bytes_of(count, type, peer);
    if (bytes < 0)
        return bare(data, count, type, peer, tag, comm);
    std::atomic<bool> left{false};
    Message message{start,
                    data,
                    count,
                    type,
                    peer,
                    tag,
                    comm,
                    0,
                    0,
                    0,
                    MPI_REQUEST_NULL,
                    &left,
                    nullptr,
                    MPI_REQUEST_NULL,
                    nullptr};
    message.carried = static_cast<std::size_t>(bytes);
    if (!hand_over(message, static_cast<std::uint64_t>(bytes)))
        return bare(data, count, type, peer, tag, comm);
    while (!left.load(std::memory_order_acquire))
        nap();
    return MPI_SUCCESS;
}

template <class Test>
int wait_without_core(Test test) {
    for (;;) {
        int over = 0;
        const int error = test(&over);
        if (error != MPI_SUCCESS || over)
            return error;
        nap();
    }
}

} // namespace

#define SEND(name, iname)                                                                          \
    DEFINE(name, const void *data, int count, MPI_Datatype type, int peer, int tag,                \
           MPI_Comm comm) {                                                                        \
        static const auto bare = BARE(name);                                                       \
        static const auto start = BARE(iname);                                                     \
        return send_now(bare, start, data, count, type, peer, tag, comm);                          \
    }                                                                                              \
    DEFINE(iname, const void *data, int count, MPI_Datatype type, int peer, int tag,               \
           MPI_Comm comm, MPI_Request *request) {                                                  \
        static const auto start = BARE(iname);                                                     \
        return send_later(start, data, count, type, peer, tag, comm, request);                     \
    }
SEND(Send, Isend)
SEND(Ssend, Issend)
SEND(Rsend, Irsend)

DEFINE(Wait, MPI_Request *request, MPI_Status *status) {
    static const auto bare = BARE(Wait);
    static const auto test = BARE(Test);
    if (!g_on)
        return bare(request, status);
    return wait_without_core([&](int *over) { return test(request, over, status); });
}

DEFINE(Waitall, int count, MPI_Request requests[], MPI_Status statuses[]) {
    static const auto bare = BARE(Waitall);
    static const auto test = BARE(Testall);
    if (!g_on)
        return bare(count, requests, statuses);
    return wait_without_core([&](int *over) { return test(count, requests, over, statuses); });
}

DEFINE(Recv, void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Status *status) {
    static const auto bare = BARE(Recv);
    static const auto start = BARE(Irecv);
    if (!g_on)
        return bare(data, count, type, peer, tag, comm, status);
    MPI_Request request;
    const int error = start(data, count, type, peer, tag, comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, status) : error;
}

DEFINE(Barrier, MPI_Comm comm) {
    static const auto bare = BARE(Barrier);
    static const auto start = BARE(Ibarrier);
    if (!g_on)
        return bare(comm);
    MPI_Request request;
    const int error = start(comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

DEFINE(Allreduce, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
       MPI_Comm comm) {
    static const auto bare = BARE(Allreduce);
    static const auto start = BARE(Iallreduce);
    if (!g_on)
        return bare(in, out, count, type, op, comm);
    MPI_Request request;
    const int error = start(in, out, count, type, op, comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

DEFINE(Finalize, void) {
    static const auto bare = BARE(Finalize);
    pthread_mutex_lock(&g_mutex);
    const bool running = g_running;
    g_stopping = true;
    if (running)
        pthread_cond_signal(&g_changed);
    pthread_mutex_unlock(&g_mutex);
    if (running)
        pthread_join(g_thread, nullptr);
    return bare();
}
