// SPDX-License-Identifier: Apache-2.0
// Recording: each thread has a list of chunks that only it fills; the count of a chunk is published with
// release, so the writer at exit may read them while other threads still run.
#include "trace/trace.h"

#include "base/config.h"
#include "base/message.h"
#include "trace/buffer.h"

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <new>

namespace sennit::trace {

bool g_on = false;

namespace {

constexpr std::uint64_t kMostEvents = 16'000'000; // of a process: about 640 MB
constexpr std::uint64_t kIdBlock = 1024;

std::atomic<ThreadBuffer *> g_threads{nullptr};
std::atomic<std::uint32_t> g_thread_count{0};
std::atomic<std::uint64_t> g_chunks{0};
std::atomic<std::uint64_t> g_dropped{0};
std::atomic<std::uint64_t> g_next_block{0};
std::atomic<int> g_rank{-1};

SENNIT_TLS ThreadBuffer *t_buffer;
SENNIT_TLS std::uint64_t t_next_id;
SENNIT_TLS std::uint64_t t_last_id;

std::uint64_t now_ns() {
    timespec now{};
    // The realtime clock: ranks of one machine line up.
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

ThreadBuffer *make_buffer() {
    void *memory = std::calloc(1, sizeof(ThreadBuffer));
    if (!memory)
        return nullptr;
    auto *buffer = new (memory) ThreadBuffer;
    buffer->thread = g_thread_count.fetch_add(1, std::memory_order_relaxed);
    buffer->next = g_threads.load(std::memory_order_relaxed);
    while (!g_threads.compare_exchange_weak(buffer->next, buffer, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
    return buffer;
}

Chunk *add_chunk(ThreadBuffer &buffer) {
    if (g_chunks.fetch_add(1, std::memory_order_relaxed) * Chunk::kEvents > kMostEvents)
        return nullptr;
    auto *chunk = static_cast<Chunk *>(std::malloc(sizeof(Chunk)));
    if (!chunk)
        return nullptr;
    new (chunk) Chunk;
    if (buffer.last)
        buffer.last->next.store(chunk, std::memory_order_release);
    else
        buffer.first.store(chunk, std::memory_order_release);
    buffer.last = chunk;
    return chunk;
}

void write_at_exit() {
    g_on = false;
    write_timeline(config().trace, g_rank.load(), g_threads.load(std::memory_order_acquire));
    if (const std::uint64_t dropped = g_dropped.load())
        warn("the trace is incomplete: %llu events beyond the limit of %llu were dropped",
             static_cast<unsigned long long>(dropped),
             static_cast<unsigned long long>(kMostEvents));
}

} // namespace

void setup() {
    if (config().trace[0] == '\0')
        return;
    g_on = true;
    std::atexit(write_at_exit);
}

std::uint64_t next_id() {
    if (t_next_id == t_last_id) {
        t_next_id = g_next_block.fetch_add(1, std::memory_order_relaxed) * kIdBlock + 1;
        t_last_id = t_next_id + kIdBlock;
    }
    return t_next_id++;
}

void record(Kind kind, std::uint64_t task, std::uint64_t a, std::uint64_t b, const char *name) {
    ThreadBuffer *buffer = t_buffer;
    if (!buffer && !(buffer = t_buffer = make_buffer()))
        return;
    Chunk *chunk = buffer->last;
    std::uint32_t count = chunk ? chunk->count.load(std::memory_order_relaxed) : 0;
    if (!chunk || count == Chunk::kEvents) {
        chunk = add_chunk(*buffer);
        count = 0;
        if (!chunk) {
            g_dropped.fetch_add(1, std::memory_order_relaxed);
            return;
        }
    }
    chunk->events[count] = {now_ns(), task, a, b, name, kind};
    chunk->count.store(count + 1, std::memory_order_release);
}

void set_rank(int rank) { g_rank.store(rank, std::memory_order_relaxed); }

void after_fork_in_child() {
    g_on = false; // the parent writes what it recorded; the child usually execs
}

} // namespace sennit::trace
