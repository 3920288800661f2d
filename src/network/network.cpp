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
// How: a send hands its message to a thread, which makes the true send at the time of arrival. The
// program's request is a generalized one. Messages of one process arrive in the order of their
// sends, or with `eager` those of one tag do, so MPI's order of matching is kept. That a receive
// has been called is told past MPI (notices.h), for MPI would have to be asked all the time.
#include "base/clock.h"
#include "base/last_words.h"
#include "interpose/bare.h"
#include "interpose/define.h"
#include "interpose/mpi_names.h"
#include "network/notices.h"
#include "network/options.h"
#include "network/pairing.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DEFINE(name, ...) SENNIT_INTERPOSE(network_MPI_##name, MPI_##name, PMPI_##name, __VA_ARGS__)
#define BARE(name) (sennit::interpose::Bare<find_bare, "PMPI_" #name, decltype(MPI_##name)>{})

namespace {

using sennit::network::Options;

constexpr long kNapNs = 50'000; // of calls that wait

void *find_bare(const char *name) {
    void *found = sennit::interpose::find_next(name);
    if (!found) {
        std::fprintf(stderr, "sennit: the MPI library has no %s: SENNIT_NETWORK cannot work\n",
                     name);
        std::abort();
    }
    return found;
}

Options g_options; // written before threads are there, or with g_mutex

[[gnu::constructor]] void load() {
    g_options = sennit::network::read_options();
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
    std::uint64_t bytes;
    std::uint64_t carried = 0; // of them, in truth
    std::uint64_t sent = 0;
    std::uint64_t allowed = 0; // when the receiver's answer is here
    std::uint64_t leaves = 0;
    std::uint64_t arrives = 0;
    MPI_Request request = MPI_REQUEST_NULL; // the program's, or null: it waits for `left`
    std::atomic<bool> *left = nullptr;
    void *copy = nullptr;
    MPI_Request bare = MPI_REQUEST_NULL; // the true send's
    Message *next = nullptr;
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
sennit::network::Notices g_notices;
sennit::network::Pairing<Message> g_asking; // their receives are still to be called
std::uint64_t g_asking_since = 0;           // or since one of them last went
int g_rank = 0;
pthread_t g_listener;
bool g_listening = false;
// In the order of their times:
Message *g_allowed = nullptr; // their receives have been called, the answer is on its way
List g_leaving;
List g_flying;
List g_arriving;               // handed to MPI, not yet complete there; the thread's alone
std::uint64_t g_under_way = 0; // messages that MPI has not got yet; not those that ask
std::uint64_t g_card_free = 0;
bool g_running = false;
bool g_stopping = false;
pthread_t g_thread;

// The last byte has left: the program may use the data again.
void leave(Message &message) {
    static constexpr auto complete = BARE(Grequest_complete);
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
    static constexpr auto test = BARE(Test);
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

// What follows, up to run(): with g_mutex.

// To the card.
void put_on_card(Message *message, std::uint64_t now) {
    // 1 MB/s is one byte in 1000 ns.
    g_card_free = (g_card_free > now ? g_card_free : now) +
                  (g_options.bandwidth ? message->bytes * 1000 / g_options.bandwidth : 0);
    message->leaves = g_card_free;
    message->arrives = g_card_free + g_options.latency_ns;
    const bool next = !g_leaving.first;
    g_leaving.push(message);
    ++g_under_way;
    if (next)
        pthread_cond_signal(&g_changed);
}

// Its receive was called at that time.
void allow(Message *message, std::uint64_t called, std::uint64_t now) {
    const bool asks = message->bytes > g_options.eager;
    const std::uint64_t asked = message->sent + g_options.latency_ns;
    message->allowed = asks ? (asked > called ? asked : called) + g_options.latency_ns : now;
    Message **place = &g_allowed;
    for (; *place; place = &(*place)->next) {
        const bool same = (*place)->peer == message->peer && (*place)->tag == message->tag;
        if (same && message->allowed < (*place)->allowed)
            message->allowed = (*place)->allowed; // behind it, however short
        else if ((*place)->allowed > message->allowed)
            break;
    }
    if (message->allowed <= now)
        return put_on_card(message, now);
    message->next = *place;
    *place = message;
    pthread_cond_signal(&g_changed);
}

void ask(Message *message, std::uint64_t now) {
    if (g_asking.waiting() == 0)
        g_asking_since = now;
    const auto called =
        g_asking.sent(message->peer, message->tag, message, message->bytes > g_options.eager);
    if (called)
        allow(message, *called, now);
}

void lose_patience(std::uint64_t now) {
    if (g_asking.waiting() == 0 || now - g_asking_since < g_options.patience_ns)
        return;
    std::fprintf(stderr,
                 "sennit: SENNIT_NETWORK: eager: is for programs whose receives name their sender "
                 "and tag, without probes and persistent requests: %zu messages of rank %d have "
                 "waited for one in vain, and go\n",
                 g_asking.waiting(), g_rank);
    g_options.eager = UINT64_MAX;
    g_asking.release([&](Message *message) { put_on_card(message, now); });
}

std::uint64_t next_time() {
    std::uint64_t time = UINT64_MAX;
    const auto also = [&](std::uint64_t other) { time = other < time ? other : time; };
    if (g_leaving.first)
        also(g_leaving.first->leaves);
    if (g_flying.first)
        also(g_flying.first->arrives);
    if (g_allowed)
        also(g_allowed->allowed);
    if (g_asking.waiting() > 0)
        also(g_asking_since + g_options.patience_ns);
    return time;
}

void *run(void *) {
    pthread_setname_np(pthread_self(), "sennit-network");
    prctl(PR_SET_TIMERSLACK, 1);
    pthread_mutex_lock(&g_mutex);
    for (;;) {
        const std::uint64_t now = now_ns();
        lose_patience(now);
        while (g_allowed && g_allowed->allowed <= now) {
            Message *message = g_allowed;
            g_allowed = message->next;
            put_on_card(message, now);
        }
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
            g_under_way -= step == arrive ? 1 : 0;
            continue;
        }
        if (g_arriving.first) {
            pthread_mutex_unlock(&g_mutex);
            collect();
            pthread_mutex_lock(&g_mutex);
        }
        std::uint64_t until = next_time();
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
        g_options.on = false;
    }
    return g_running;
}

bool multiple() {
    static constexpr auto query = BARE(Query_thread);
    static const bool is = [] {
        int level = MPI_THREAD_SINGLE;
        return query(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
    }();
    return is;
}

// Is there such a rank? If not, MPI says so to who sends.
bool exists(int peer, MPI_Comm comm) {
    static constexpr auto is_inter = BARE(Comm_test_inter);
    static constexpr auto size = BARE(Comm_size);
    static constexpr auto remote_size = BARE(Comm_remote_size);
    int inter = 0;
    int ranks = 0;
    return peer >= 0 && comm != MPI_COMM_NULL && is_inter(comm, &inter) == MPI_SUCCESS &&
           (inter ? remote_size : size)(comm, &ranks) == MPI_SUCCESS && peer < ranks;
}

// Bytes of a message of a predefined type; -1: of another, to nobody, or there is no network.
std::int64_t bytes_of(int count, MPI_Datatype type, int peer, MPI_Comm comm) {
    if (!g_options.on || count < 0 || !multiple() || !exists(peer, comm))
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

// `made`: a message with what the caller knows. It is on its way when this returns.
bool hand_over(const Message &made) {
    auto *message = new Message(made);
    message->carried = made.bytes;
    if (made.bytes > g_options.payload && made.count > 0) {
        const std::uint64_t size = made.bytes / static_cast<std::uint64_t>(made.count);
        message->count = static_cast<int>((g_options.payload + size - 1) / size);
        message->carried = static_cast<std::uint64_t>(message->count) * size;
    }
    pthread_mutex_lock(&g_mutex);
    const bool good = start_thread();
    if (good) {
        const std::uint64_t now = now_ns();
        message->sent = now;
        if (g_listening && g_options.eager != UINT64_MAX && made.comm == MPI_COMM_WORLD)
            ask(message, now);
        else
            put_on_card(message, now);
    } else {
        delete message;
    }
    pthread_mutex_unlock(&g_mutex);
    return good;
}

// ---- receives that have been called -----------------------------------------------------------

[[noreturn]] void give_up(const char *what) {
    std::fprintf(stderr, "sennit: SENNIT_NETWORK: eager: %s\n", what);
    sennit::let_last_words_through();
    static constexpr auto abort_job = BARE(Abort);
    abort_job(MPI_COMM_WORLD, 2);
    std::abort();
}

void *listen(void *) {
    pthread_setname_np(pthread_self(), "sennit-notices");
    sennit::network::Notice notice;
    while (g_notices.next(notice)) {
        pthread_mutex_lock(&g_mutex);
        const std::uint64_t now = now_ns();
        if (Message *message = g_asking.received(notice.rank, notice.tag, notice.called)) {
            g_asking_since = now;
            allow(message, notice.called, now);
        }
        pthread_mutex_unlock(&g_mutex);
    }
    return nullptr;
}

// MPI is there: all ranks agree on a number, open their ends, and go on when all are open.
void begin_to_listen() {
    static constexpr auto rank_of = BARE(Comm_rank);
    static constexpr auto broadcast = BARE(Bcast);
    static constexpr auto barrier = BARE(Barrier);
    if (!g_options.on || g_options.eager == UINT64_MAX || !multiple())
        return;
    rank_of(MPI_COMM_WORLD, &g_rank);
    std::uint64_t job = now_ns() ^ static_cast<std::uint64_t>(getpid()) << 44;
    broadcast(&job, sizeof job, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!g_notices.open(job, g_rank))
        give_up(std::strerror(errno));
    barrier(MPI_COMM_WORLD);
    if (pthread_create(&g_listener, nullptr, listen, nullptr) != 0)
        give_up("no thread for it");
    g_listening = true;
}

void stop_listening() {
    if (!g_listening)
        return;
    g_notices.tell(g_rank, {-1, 0, 0});
    pthread_join(g_listener, nullptr);
    g_notices.close();
    g_listening = false;
}

void tell_sender(int peer, int tag, MPI_Comm comm) {
    if (!g_listening || comm != MPI_COMM_WORLD || peer == MPI_PROC_NULL)
        return;
    if (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
        give_up("a receive has to name its sender and tag");
    g_notices.tell(peer, {g_rank, tag, now_ns()});
}

// ---- calls ------------------------------------------------------------------------------------

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
    Message message{start, data, count, type, peer, tag, comm, static_cast<std::uint64_t>(bytes)};
    message.request = *request;
    if (!hand_over(message))
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
    Message message{start, data, count, type, peer, tag, comm, static_cast<std::uint64_t>(bytes)};
    message.left = &left;
    if (!hand_over(message))
        return bare(data, count, type, peer, tag, comm);
    while (!left.load(std::memory_order_acquire))
        nap();
    return MPI_SUCCESS;
}

// What is sent on a communicator may still be under way when the program frees it.
void wait_for_arrivals() {
    for (bool any = g_options.on; any;) {
        pthread_mutex_lock(&g_mutex);
        any = g_under_way > 0;
        pthread_mutex_unlock(&g_mutex);
        if (any)
            nap();
    }
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
    if (!g_options.on)
        return bare(request, status);
    return wait_without_core([&](int *over) { return test(request, over, status); });
}

DEFINE(Waitall, int count, MPI_Request requests[], MPI_Status statuses[]) {
    static constexpr auto bare = BARE(Waitall);
    static constexpr auto test = BARE(Testall);
    if (!g_options.on)
        return bare(count, requests, statuses);
    return wait_without_core([&](int *over) { return test(count, requests, over, statuses); });
}

DEFINE(Irecv, void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Request *request) {
    static constexpr auto bare = BARE(Irecv);
    const int error = bare(data, count, type, peer, tag, comm, request);
    if (error == MPI_SUCCESS)
        tell_sender(peer, tag, comm);
    return error;
}

DEFINE(Recv, void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Status *status) {
    static constexpr auto bare = BARE(Recv);
    if (!g_options.on || peer == MPI_PROC_NULL) // which has a status of its own
        return bare(data, count, type, peer, tag, comm, status);
    MPI_Request request;
    const int error = network_MPI_Irecv(data, count, type, peer, tag, comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, status) : error;
}

DEFINE(Sendrecv, const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
       void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
       MPI_Status *status) {
    static constexpr auto bare = BARE(Sendrecv);
    if (!g_options.on || from == MPI_PROC_NULL) // as in Recv
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
    if (!g_options.on)
        return bare(comm);
    MPI_Request request;
    const int error = start(comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

DEFINE(Allreduce, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
       MPI_Comm comm) {
    static constexpr auto bare = BARE(Allreduce);
    static constexpr auto start = BARE(Iallreduce);
    if (!g_options.on)
        return bare(in, out, count, type, op, comm);
    MPI_Request request;
    const int error = start(in, out, count, type, op, comm, &request);
    return error == MPI_SUCCESS ? network_MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

DEFINE(Init, int *argc, char ***argv) {
    static constexpr auto bare = BARE(Init);
    const int error = bare(argc, argv);
    if (error == MPI_SUCCESS)
        begin_to_listen();
    return error;
}

DEFINE(Init_thread, int *argc, char ***argv, int required, int *provided) {
    static constexpr auto bare = BARE(Init_thread);
    const int error = bare(argc, argv, required, provided);
    if (error == MPI_SUCCESS)
        begin_to_listen();
    return error;
}

DEFINE(Comm_free, MPI_Comm *comm) {
    static constexpr auto bare = BARE(Comm_free);
    wait_for_arrivals();
    return bare(comm);
}

DEFINE(Comm_disconnect, MPI_Comm *comm) {
    static constexpr auto bare = BARE(Comm_disconnect);
    wait_for_arrivals();
    return bare(comm);
}

DEFINE(Finalize, void) {
    static constexpr auto bare = BARE(Finalize);
    pthread_mutex_lock(&g_mutex);
    const bool running = g_running;
    g_stopping = true;
    if (running)
        pthread_cond_signal(&g_changed);
    pthread_mutex_unlock(&g_mutex);
    if (running)
        pthread_join(g_thread, nullptr);
    stop_listening();
    return bare();
}
