// SPDX-License-Identifier: Apache-2.0
// The recorder: buffers, ids, set-up, and when the writer runs. records.h tells how events lie in
// memory; chrome.cpp writes them.
#include "trace/trace.h"

#include "base/config.h"
#include "base/message.h"
#include "base/spin.h"
#include "trace/chrome.h"
#include "trace/json_file.h"
#include "trace/records.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sennit::trace {

bool g_on = false;

namespace {

constexpr std::size_t kLeastMemory = std::size_t{4} << 20;
constexpr std::uint64_t kIdBlock = 256;

// The calling thread's place in its log. The initial thread of a program may record before it is a
// worker: `room` stays 0 or below until its row is known, which sends each event through
// append_slow.
struct Place {
    Word *at;
    std::ptrdiff_t room; // words from `at` to the end of the chunk
    Log *log;
    Chunk *chunk;
    std::uint64_t id, id_end; // the thread's block of task ids
};
SENNIT_TLS Place t_place{};

// Read by every event, hardly ever written.
alignas(kCacheLine) std::atomic<bool> g_full{false};
int (*g_row_of_thread)() = nullptr;
Chunk *g_pool = nullptr;
std::size_t g_pool_size = 0;
Moment g_begin;
char *g_folder = nullptr;
bool g_forked = false;
std::atomic<int> g_rank{-1};

alignas(kCacheLine) std::atomic<std::size_t> g_next_chunk{0};
std::atomic<std::uint64_t> g_next_id{1};
std::atomic<Log *> g_logs{nullptr};
std::atomic<std::uint64_t> g_dropped_unlogged{0}; // by threads that never got a chunk

// The calling thread's next chunk; null when all are taken.
Chunk *add_chunk(Place &place) {
    const std::size_t index = g_next_chunk.fetch_add(1, std::memory_order_relaxed);
    if (index >= g_pool_size) {
        g_full.store(true, std::memory_order_relaxed);
        return nullptr;
    }
    Chunk *fresh = &g_pool[index];
#ifdef MADV_POPULATE_WRITE
    madvise(fresh, sizeof *fresh, MADV_POPULATE_WRITE); // all page faults at once; may fail
#endif
    if (place.chunk) {
        place.chunk->next.store(fresh, std::memory_order_release);
    } else {
        place.log = new (&fresh->log) Log;
        place.log->next = g_logs.load(std::memory_order_relaxed);
        while (!g_logs.compare_exchange_weak(place.log->next, place.log, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }
    place.chunk = fresh;
    place.at = fresh->words;
    return fresh;
}

void count_dropped(Log *log) {
    if (log)
        log->dropped.store(log->dropped.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
    else
        g_dropped_unlogged.fetch_add(1, std::memory_order_relaxed);
}

// Where the calling thread writes its next record, or null: the event is dropped, and counted.
SENNIT_COLD Word *append_slow(Place &place) {
    std::ptrdiff_t room = place.chunk ? place.chunk->words + Chunk::kCount - place.at : 0;
    if (g_full.load(std::memory_order_relaxed) || (room < kMostWords && !add_chunk(place))) {
        count_dropped(place.log);
        return nullptr;
    }
    room = place.chunk->words + Chunk::kCount - place.at;
    int row = place.log->row.load(std::memory_order_relaxed);
    if (row < 0 && g_row_of_thread) {
        row = g_row_of_thread();
        place.log->row.store(row, std::memory_order_relaxed);
    }
    place.room = row < 0 ? 0 : room;
    return place.at;
}

} // namespace

int rank_of_environment() {
    for (const char *variable : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
        const char *text = std::getenv(variable);
        if (!text || !*text)
            continue;
        char *end = nullptr;
        const long rank = std::strtol(text, &end, 10);
        if (*end == '\0' && rank >= 0 && rank <= 0x7fffffff)
            return static_cast<int>(rank);
    }
    return -1;
}

namespace {

bool make_folder(const char *path) {
    if (!path || (mkdir(path, 0777) != 0 && errno != EEXIST))
        return false;
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    return access(path, W_OK | X_OK) == 0;
}

bool reserve_memory() {
    for (std::size_t size = kMostMemory; size >= kLeastMemory; size /= 2) {
        void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory != MAP_FAILED) {
            g_pool = static_cast<Chunk *>(memory);
            g_pool_size = size / sizeof(Chunk);
            return true;
        }
    }
    return false;
}

void write_at_exit() {
    Report report{};
    report.logs = g_logs.load(std::memory_order_acquire);
    report.dropped = g_dropped_unlogged.load(std::memory_order_relaxed);
    for (const Log *log = report.logs; log; log = log->next)
        report.dropped += log->dropped.load(std::memory_order_relaxed);
    report.cut = g_full.load(std::memory_order_relaxed);
    report.memory = g_pool_size * sizeof(Chunk);
    // Other threads may still run: what they would add from now on is no loss.
    g_full.store(true, std::memory_order_relaxed);
    report.begin = g_begin;
    report.end = Moment::now();
    report.folder = g_folder;
    report.rank = g_rank.load(std::memory_order_relaxed);
    report.forked = g_forked;
    write_chrome(report);
}

} // namespace

// The clocks are read one after the other: take the reading that was disturbed least.
Moment Moment::now() {
    Moment best{};
    std::uint64_t best_gap = ~std::uint64_t{0};
    for (int round = 0; round < 8; ++round) {
        timespec monotonic, realtime;
        const std::uint64_t before = sennit::ticks();
        clock_gettime(CLOCK_MONOTONIC, &monotonic);
        clock_gettime(CLOCK_REALTIME, &realtime);
        const std::uint64_t gap = sennit::ticks() - before;
        if (gap >= best_gap)
            continue;
        best_gap = gap;
        best.ticks = before + gap / 2;
        best.monotonic_ns = monotonic.tv_sec * 1'000'000'000 + monotonic.tv_nsec;
        best.realtime_ns = realtime.tv_sec * 1'000'000'000 + realtime.tv_nsec;
    }
    return best;
}

Clock::Clock(const Moment &begin, const Moment &end) : begin_(begin.ticks & kMask) {
    const std::uint64_t passed = end.ticks - begin.ticks;
    const auto ns = static_cast<std::uint64_t>(end.monotonic_ns - begin.monotonic_ns);
    rate_ = passed ? static_cast<std::uint64_t>((static_cast<unsigned __int128>(ns) << 48) / passed)
                   : 0;
}

void setup() {
    if (!*config().trace)
        return;
    g_folder = absolute_path(config().trace);
    if (!make_folder(g_folder)) {
        warn("SENNIT_TRACE: cannot write to a folder '%s' (%s): no timeline is recorded",
             config().trace, std::strerror(errno));
        return;
    }
    if (!reserve_memory()) {
        warn("SENNIT_TRACE: no memory for the buffers (%zu MiB; raise 'ulimit -v'): no timeline is "
             "recorded",
             kLeastMemory >> 20);
        return;
    }
    g_rank.store(rank_of_environment(), std::memory_order_relaxed);
    g_forked = false;
    g_begin = Moment::now();
    g_on = true;
    std::atexit(write_at_exit);
}

std::uint64_t next_id() {
    Place &place = t_place;
    if (SENNIT_UNLIKELY(place.id == place.id_end)) {
        place.id = g_next_id.fetch_add(kIdBlock, std::memory_order_relaxed);
        place.id_end = place.id + kIdBlock;
    }
    return place.id++;
}

void record(Kind kind, std::uint64_t task, std::uint64_t a, std::uint64_t b, const char *name) {
    Place &place = t_place;
    Word *at = place.at;
    if (SENNIT_UNLIKELY(place.room < kMostWords) ||
        SENNIT_UNLIKELY(g_full.load(std::memory_order_relaxed))) {
        at = append_slow(place);
        if (!at)
            return;
    }
    const std::ptrdiff_t size = kWords[static_cast<std::size_t>(kind)];
    place.at = at + size;
    place.room -= size;
    at[1] = task;
    if (size > 2) {
        at[2] = a;
        if (size > 3)
            at[3] = b;
        if (size > 4)
            at[4] = reinterpret_cast<Word>(name);
    }
    __atomic_store_n(at, stamp(ticks(), kind), __ATOMIC_RELEASE);
}

void set_rank(int rank) {
    g_rank.store(rank, std::memory_order_relaxed);
}

void set_row_of_thread(int (*row)()) {
    g_row_of_thread = row;
}

void after_fork_in_child() {
    if (!g_on)
        return;
    // Zero again, as chunks have to be; the parent keeps its pages.
    madvise(g_pool, g_pool_size * sizeof(Chunk), MADV_DONTNEED);
    g_logs.store(nullptr, std::memory_order_relaxed);
    g_next_chunk.store(0, std::memory_order_relaxed);
    g_next_id.store(1, std::memory_order_relaxed);
    g_dropped_unlogged.store(0, std::memory_order_relaxed);
    g_full.store(false, std::memory_order_relaxed);
    t_place = {};
    g_forked = true;
}

} // namespace sennit::trace
