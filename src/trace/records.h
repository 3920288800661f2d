// SPDX-License-Identifier: Apache-2.0
// How events lie in memory, shared by the recorder (trace.cpp) and its reader (timeline.cpp).
//
// All memory is one reservation cut into chunks. A thread owns a list of chunks and appends records
// of 2 to 5 words. The first word (time stamp and kind) is stored last, with release, over a zero:
// so a reader may walk the chunks while their owner goes on writing, and stops at the first zero.
#pragma once

#include "trace/trace.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit::trace {

using Word = std::uint64_t;

// Words of a record of each kind: stamp, task, then a, b, name as far as the kind uses them.
inline constexpr std::uint8_t kWords[] = {0, 4, 2, 3, 2, 2, 2, 2, 4, 5, 2};
inline constexpr std::ptrdiff_t kMostWords = 5;
inline constexpr std::size_t kKinds = sizeof kWords;
static_assert(kKinds == static_cast<std::size_t>(Kind::span_end) + 1);

inline constexpr std::size_t kChunkBytes = 64 * 1024;

// What one thread recorded. Lives in the thread's first chunk.
struct Log {
    Log *next = nullptr; // the log of a thread that began earlier
    std::atomic<int> row{-1};
    std::atomic<std::uint64_t> dropped{0}; // written by the owner alone
};

struct alignas(kCacheLine) Chunk {
    std::atomic<Chunk *> next;
    Log log; // of the first chunk
    static constexpr std::ptrdiff_t kCount =
        (kChunkBytes - sizeof(std::atomic<Chunk *>) - sizeof(Log)) / sizeof(Word);
    Word words[kCount];

    static const Chunk *of(const Log &log) {
        return reinterpret_cast<const Chunk *>(reinterpret_cast<const char *>(&log) -
                                               offsetof(Chunk, log));
    }
};
static_assert(sizeof(Chunk) == kChunkBytes);

// Time stamps are ticks; 56 bits of them are kept, which is enough to count from a process's start.
inline Word stamp(std::uint64_t ticks, Kind kind) {
    return ticks << 8 | static_cast<Word>(kind);
}

// The three clocks at one moment.
struct Moment {
    std::uint64_t ticks;
    std::int64_t monotonic_ns;
    std::int64_t realtime_ns;
    static Moment now();
};

// Stamps to nanoseconds since `begin`. The rate comes from the monotonic clock.
class Clock {
  public:
    Clock(const Moment &begin, const Moment &end);
    std::uint64_t ns(Word stamp) const {
        const std::uint64_t passed = ((stamp >> 8) - begin_) & kMask;
        if (passed > kMask / 2) // another core's counter, a hair behind
            return 0;
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(passed) * rate_ >> 48);
    }

  private:
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << 56) - 1;
    std::uint64_t begin_;
    std::uint64_t rate_; // nanoseconds a tick * 2^48
};

struct Record {
    Kind kind;
    Word stamp;
    std::uint64_t task, a, b;
    const char *name;
};

// visit(const Record &) for each event of one thread, oldest first.
template <typename Visit>
void for_each_record(const Log &log, Visit visit) {
    for (const Chunk *chunk = Chunk::of(log); chunk;
         chunk = chunk->next.load(std::memory_order_acquire)) {
        for (std::ptrdiff_t at = 0; at + kMostWords <= Chunk::kCount;) {
            const Word *words = &chunk->words[at];
            const Word first = __atomic_load_n(words, __ATOMIC_ACQUIRE);
            if (first == 0)
                break;
            const std::ptrdiff_t size = kWords[first & 0xff];
            visit(Record{static_cast<Kind>(first & 0xff), first, words[1], size > 2 ? words[2] : 0,
                         size > 3 ? words[3] : 0,
                         size > 4 ? reinterpret_cast<const char *>(words[4]) : nullptr});
            at += size;
        }
    }
}

} // namespace sennit::trace
