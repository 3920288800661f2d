// SPDX-License-Identifier: Apache-2.0
#include "tasks/trace/trace_output.h"

#include "base/config.h"
#include "base/environment.h"
#include "base/kept_file.h"
#include "base/message.h"
#include "base/own_file.h"
#include "base/rank.h"
#include "base/small_file.h"
#include "base/spin.h"
#include "tasks/trace/counters.h"
#include "tasks/trace/json_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sennit::trace {
namespace {

// The file of this process.
struct Output {
    SpinLock lock; // also of the rare fields of the header
    char *folder SENNIT_GUARDED_BY(lock) = nullptr;
    char *path SENNIT_GUARDED_BY(lock) = nullptr;
    int file = -1;
    std::atomic<Header *> header{nullptr};
    ClockPoint begin SENNIT_GUARDED_BY(lock){};
    std::int64_t begin_realtime SENNIT_GUARDED_BY(lock) = 0;
    int rank SENNIT_GUARDED_BY(lock) = -1;
    int ranks SENNIT_GUARDED_BY(lock) = -1;
    bool forked SENNIT_GUARDED_BY(lock) = false;
    bool gave_up SENNIT_GUARDED_BY(lock) = false; // no file can be made
    bool said_full SENNIT_GUARDED_BY(lock) = false;
    std::atomic<std::uint64_t> dropped{0};
    Chunk *table SENNIT_GUARDED_BY(lock) = nullptr;
    std::ptrdiff_t table_used SENNIT_GUARDED_BY(lock) = 0;
};
constinit Output g_output;

void read_line(const char *path, char *text, std::size_t size) {
    read_small_file(path, text, size);
    text[std::strcspn(text, "\n")] = '\0';
}

// Lock and size of a file that nobody else writes to; -1 and errno.
int make_file(const char *path) {
    for (int attempt = 0; attempt < 8; ++attempt) {
        const int file = create_file(path);
        if (file >= 0) {
            flock(file, LOCK_EX | LOCK_NB); // as long as we live
            return file;
        }
        if (errno != EEXIST)
            return -1;
        // Of an earlier run, or of a process that is still at work: one that started us.
        // What is none of this user's files was put there by somebody else, and nobody is at work
        // in it.
        const int old = reopen_file(path);
        const bool busy = old >= 0 && flock(old, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        const bool stuck = !busy && unlink(path) != 0 && errno != ENOENT;
        const int error = errno;
        if (old >= 0)
            close(old);
        if (stuck) {
            errno = error;
            return -1;
        }
        if (busy) {
            errno = EBUSY;
            return -1;
        }
    }
    return -1;
}

char *path_of(int rank, bool own) SENNIT_REQUIRES(g_output.lock) {
    char *path = nullptr;
    const int process = getpid();
    const int length =
        rank >= 0 && own
            ? asprintf(&path, "%s/rank-%d.%d.sennit", g_output.folder, rank, process)
            : asprintf(&path, "%s/rank-%d.sennit", g_output.folder, rank >= 0 ? rank : process);
    return length < 0 ? nullptr : path;
}

// What `sennit run` calls the job, or else the launcher.
void name_job(Header &header) {
    if (const char *name = trusted_environment("SENNIT_TRACE_JOB")) {
        std::snprintf(header.job, sizeof header.job, "%s", name);
        return;
    }
    std::size_t used = 0;
    for (const char *variable : kJobVariables)
        if (const char *part = trusted_environment(variable); part && used < sizeof header.job)
            used += static_cast<std::size_t>(std::snprintf(
                header.job + used, sizeof header.job - used, "%s%s", used > 0 ? "/" : "", part));
}

void fill_header(Header &header) SENNIT_REQUIRES(g_output.lock) {
    header.version = kVersion;
    header.header_bytes = kHeaderBytes;
    header.chunk_bytes = kChunkBytes;
    header.rank = g_output.rank;
    header.ranks = g_output.ranks;
    header.process = static_cast<std::uint64_t>(getpid());
    header.realtime_ns = g_output.begin_realtime;
    header.begin = g_output.begin;
    // Until later readings come, the rate is that of the first millisecond or more.
    constexpr std::int64_t kBaseline = 1'000'000;
    do
        header.end = clock_now();
    while (header.end.monotonic_ns - header.begin.monotonic_ns < kBaseline);
    read_line("/proc/sys/kernel/random/boot_id", header.boot_id, sizeof header.boot_id);
    gethostname(header.host, sizeof header.host - 1);
    std::snprintf(header.program, sizeof header.program, "%s", program_invocation_short_name);
    const std::string_view policy = policy_word();
    std::snprintf(header.policy, sizeof header.policy, "%.*s", static_cast<int>(policy.size()),
                  policy.data());
    std::snprintf(header.generator, sizeof header.generator, "sennit");
    choose_counters(header);
    name_job(header);
    std::memcpy(header.magic, kMagic, sizeof kMagic);
}

bool open_file() SENNIT_REQUIRES(g_output.lock) {
    if (g_output.gave_up)
        return false;
    if (g_output.file >= 0)
        return true;
    char *path = path_of(g_output.rank, g_output.forked);
    int file = path ? make_file(path) : -1;
    if (file < 0 && path && errno == EBUSY) {
        std::free(path);
        path = path_of(g_output.rank, true);
        file = path ? make_file(path) : -1;
    }
    int error = errno;
    void *header = MAP_FAILED;
    if (file >= 0) {
        error = make_file_room(file, 0, kHeaderBytes);
        if (error == 0) {
            header = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            error = errno;
        }
    }
    if (header == MAP_FAILED) {
        g_output.gave_up = true;
        warn("SENNIT_TRACE: cannot write '%s' (%s): this process leaves no timeline",
             path ? path : g_output.folder, std::strerror(path ? error : ENOMEM));
        if (file >= 0) {
            unlink(path);
            close(file);
        }
        std::free(path);
        return false;
    }
    g_output.file = file;
    g_output.path = path;
    auto *made = static_cast<Header *>(header);
    fill_header(*made);
    g_output.header.store(made, std::memory_order_release);
    return true;
}

void say_full(int error) {
    const Guard guard(g_output.lock);
    if (Header *header = g_output.header.load(std::memory_order_relaxed))
        __atomic_fetch_or(&header->flags, kIncomplete, __ATOMIC_RELAXED);
    if (g_output.said_full)
        return;
    g_output.said_full = true;
    warn("SENNIT_TRACE: no room for more of the timeline '%s' (%s): later events are missing in it",
         g_output.path, std::strerror(error));
}

// Room for `bytes` in the table.
char *table_room(std::size_t bytes) SENNIT_REQUIRES(g_output.lock) {
    const auto words = static_cast<std::ptrdiff_t>(bytes / sizeof(Word));
    if (words > kChunkWords)
        return nullptr;
    if (!g_output.table || g_output.table_used + words > kChunkWords) {
        give_back(std::exchange(g_output.table, nullptr)); // unlocked, others must not write to it
        g_output.lock.unlock();
        Chunk *fresh = take_chunk(kTableChunk);
        g_output.lock.lock();
        if (!fresh)
            return nullptr;
        if (g_output.table) // another thread was faster
            give_back(g_output.table);
        g_output.table = fresh;
        g_output.table_used = 0;
    }
    char *room = reinterpret_cast<char *>(&g_output.table->words[g_output.table_used]);
    g_output.table_used += words;
    return room;
}

} // namespace

// The clocks are read one after the other. A reading that was interrupted is worth nothing: the
// rate between two of them stamps every event of a short run.
ClockPoint clock_now() {
    constexpr std::uint64_t kUndisturbed = 2000; // ticks; about a microsecond
    ClockPoint best{};
    std::uint64_t best_gap = ~std::uint64_t{0};
    for (int round = 0; round < 4 || (best_gap > kUndisturbed && round < 256); ++round) {
        timespec monotonic;
        const std::uint64_t before = sennit::ticks();
        clock_gettime(CLOCK_MONOTONIC, &monotonic);
        const std::uint64_t gap = sennit::ticks() - before;
        if (gap >= best_gap)
            continue;
        best_gap = gap;
        best.ticks = before + gap / 2;
        best.monotonic_ns = monotonic.tv_sec * 1'000'000'000 + monotonic.tv_nsec;
    }
    return best;
}

bool choose_folder(const char *path) {
    const Guard guard(g_output.lock);
    g_output.folder = absolute_path(path);
    if (!g_output.folder || (mkdir(g_output.folder, 0777) != 0 && errno != EEXIST))
        return false;
    struct stat status;
    if (stat(g_output.folder, &status) != 0)
        return false;
    if (!S_ISDIR(status.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    if (access(g_output.folder, W_OK | X_OK) != 0)
        return false;
    g_output.rank = rank_of_environment();
    g_output.begin = clock_now();
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    g_output.begin_realtime = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    return true;
}

Chunk *take_chunk(std::uint32_t kind) {
    {
        const Guard guard(g_output.lock);
        if (!open_file())
            return nullptr;
    }
    Header *header = g_output.header.load(std::memory_order_acquire);
    const std::uint32_t index = __atomic_fetch_add(&header->chunks, 1, __ATOMIC_RELAXED);
    const auto at = static_cast<off_t>(kHeaderBytes + std::uint64_t{index} * kChunkBytes);
    // Now, not when the pages are written: a full disk would end the program then.
    int error = make_file_room(g_output.file, at, kChunkBytes);
    void *memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      g_output.file, at);
        error = errno;
    }
    if (memory == MAP_FAILED) {
        say_full(error);
        return nullptr;
    }
    auto *chunk = static_cast<Chunk *>(memory);
    chunk->header.row = -1;
    chunk->header.opened = clock_now();
    chunk->header.thread_id = static_cast<std::uint64_t>(gettid());
    __atomic_store_n(&chunk->header.kind, kind, __ATOMIC_RELEASE);
    return chunk;
}

void give_back(Chunk *chunk) {
    if (chunk)
        munmap(chunk, sizeof *chunk);
}

void count_dropped() {
    const std::uint64_t dropped = g_output.dropped.fetch_add(1, std::memory_order_relaxed) + 1;
    if (Header *header = g_output.header.load(std::memory_order_acquire))
        __atomic_store_n(&header->dropped, dropped, __ATOMIC_RELAXED);
}

void write_table(TableType type, Word key, const void *first, std::size_t first_size,
                 const void *second, std::size_t second_size) {
    const Guard guard(g_output.lock);
    const std::size_t bytes =
        (2 * sizeof(Word) + first_size + second_size + sizeof(Word) - 1) & ~(sizeof(Word) - 1);
    char *room = table_room(bytes);
    if (!room)
        return;
    std::memcpy(room + sizeof(Word), &key, sizeof key);
    std::memcpy(room + 2 * sizeof(Word), first, first_size);
    if (second_size)
        std::memcpy(room + 2 * sizeof(Word) + first_size, second, second_size);
    __atomic_store_n(reinterpret_cast<Word *>(room), Word{bytes} << 8 | static_cast<Word>(type),
                     __ATOMIC_RELEASE);
}

void put_rank(int rank, int ranks) {
    const Guard guard(g_output.lock);
    const bool known = g_output.rank >= 0;
    g_output.rank = rank;
    g_output.ranks = ranks;
    Header *header = g_output.header.load(std::memory_order_relaxed);
    if (!header) {
        open_file(); // a rank that does nothing leaves a file, too: else it would be missed
        return;
    }
    header->rank = rank;
    header->ranks = ranks;
    if (known)
        return;
    // The file is called after the process.
    if (char *path = path_of(rank, g_output.forked); path && rename(g_output.path, path) == 0) {
        std::free(g_output.path);
        g_output.path = path;
    } else {
        std::free(path);
    }
}

void put_meeting(const ClockOffset &meeting) {
    const Guard guard(g_output.lock);
    if (!open_file())
        return;
    Header *header = g_output.header.load(std::memory_order_relaxed);
    const std::uint32_t at =
        header->meetings < kMostMeetings ? header->meetings : kMostMeetings - 1;
    header->meeting[at] = meeting;
    header->meetings = at + 1;
}

void finish_file() {
    Header *header = g_output.header.load(std::memory_order_acquire);
    if (!header)
        return;
    header->end = clock_now();
    __atomic_fetch_or(&header->flags, kFinished, __ATOMIC_RELEASE);
}

void forget_file() {
    g_output.lock.after_fork_in_child();
    const Guard guard(g_output.lock);
    if (Header *header = g_output.header.exchange(nullptr))
        munmap(header, kHeaderBytes);
    if (g_output.file >= 0)
        close(g_output.file);
    g_output.file = -1;
    std::free(g_output.path);
    g_output.path = nullptr;
    give_back(g_output.table);
    g_output.table = nullptr;
    g_output.table_used = 0;
    g_output.dropped.store(0, std::memory_order_relaxed);
    g_output.forked = true;
    g_output.gave_up = g_output.said_full = false;
    g_output.begin = clock_now();
}

} // namespace sennit::trace
