// SPDX-License-Identifier: Apache-2.0
#include "mpi/record/persistent.h"

#include "mpi/call/guard.h"
#include "mpi/engine/engine.h"

#include <pthread.h>

#include <cstdlib>

namespace sennit::mpi {
namespace {

struct Known {
    MPI_Request request;
    Notice notice;
    int peer;
    sennit_trace_call call; // described when it was made: its communicator may be freed before
    Known *next;
};

constexpr unsigned kBucketBits = 10;
pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
Known *g_buckets[1u << kBucketBits];
std::atomic<int> g_known{0};

Known **find(MPI_Request request) {
    Known **at = &g_buckets[bucket_of_bits(handle_bits(request), kBucketBits)];
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    return at;
}

// what(known) for each, a copy: what is told may call MPI.
template <class What>
void each(int count, const MPI_Request *requests, What what) {
    if (g_known.load(std::memory_order_relaxed) == 0 || inside_mpi())
        return;
    for (int i = 0; i < count; ++i) {
        pthread_mutex_lock(&g_mutex);
        const Known *there = *find(requests[i]);
        const Known known = there ? *there : Known{};
        pthread_mutex_unlock(&g_mutex);
        if (there)
            what(known);
    }
}

} // namespace

void remember(Notice notice, const CallFacts &facts, std::uint64_t bytes, MPI_Request request) {
    const bool shown = g_tracing && facts.name;
    const sennit_trace_call call = shown ? describe(facts, bytes) : sennit_trace_call{};
    const Guard guard(g_mutex);
    Known **at = find(request);
    if (!*at && (*at = static_cast<Known *>(std::calloc(1, sizeof(Known)))))
        g_known.fetch_add(1, std::memory_order_relaxed);
    if (*at) // without memory it starts unseen
        **at = {request, notice, facts.peer, call, (*at)->next};
}

void forget(MPI_Request request) {
    if (g_known.load(std::memory_order_relaxed) == 0 || inside_mpi())
        return;
    const Guard guard(g_mutex);
    Known **at = find(request);
    if (Known *known = *at) {
        *at = known->next;
        std::free(known);
        g_known.fetch_sub(1, std::memory_order_relaxed);
    }
}

bool is_persistent(MPI_Request request) {
    if (g_known.load(std::memory_order_relaxed) == 0)
        return false;
    const Guard guard(g_mutex);
    return *find(request) != nullptr;
}

void starts(int count, const MPI_Request *requests) {
    each(count, requests, [](const Known &known) {
        if (known.notice == Notice::send)
            g_engine.begin_send(known.peer);
    });
}

void started(int count, const MPI_Request *requests) {
    if (g_tracing)
        each(count, requests, [](const Known &known) {
            if (known.call.call)
                trace_post(known.call, &known.request);
        });
}

} // namespace sennit::mpi
