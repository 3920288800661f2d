// SPDX-License-Identifier: Apache-2.0
// The file format of a trace, shared by the recorder (trace.cpp) and the reader
// (read/trace_file.h). What each record means, for people: docs/user/reference.md.
// Little-endian; version kVersion.
//
//   header     kHeaderBytes
//   chunk 0    kChunkBytes: a ChunkHeader, then records until a zero word or the chunk's end
//   chunk 1    ...
//
// The file is memory that the recording threads write to directly, so nothing is lost when the
// process dies. A record's first word is stored last, with release, over a zero: a record is there
// whole or not at all.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sennit::trace {

using Word = std::uint64_t;

inline constexpr char kMagic[8] = {'S', 'E', 'N', 'N', 'I', 'T', 'T', 'R'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 4096;
inline constexpr std::size_t kChunkBytes = 128 * 1024;
inline constexpr std::uint32_t kEventChunk = 0x4e455645; // "EVEN"
inline constexpr std::uint32_t kTableChunk = 0x4c424154; // "TABL"
inline constexpr std::size_t kMostMeetings = 4;
inline constexpr int kMostCounters = 4;

// One row each: name, words of a record.
//   word 0: time << 8 | kind; word 1, 2, ...: the arguments in this order
#define SENNIT_TRACE_KINDS(X)                                                                      \
    X(none, 1)         /* no record: unwritten memory */                                           \
    X(create, 4)       /* task, parent's id (0: none known), entry */                              \
    X(ready, 2)        /* task */                                                                  \
    X(start, 3)        /* task, entry; on the recording thread */                                  \
    X(end, 2)          /* task: the body has returned */                                           \
    X(suspend, 2)      /* task: waits for an outside event */                                      \
    X(resume, 2)       /* task: goes on */                                                         \
    X(complete, 2)     /* task: ended, and its events are fulfilled */                             \
    X(fiber_switch, 3) /* the fiber that the thread leaves, the one that it enters */              \
    X(span_begin, 7)   /* task, name, pair(peer, tag), bytes, group, direction | requests << 8 */  \
    X(span_end, 4)     /* task, pair(source, tag), bytes */                                        \
    X(post, 8)         /* as span_begin, then the request */                                       \
    X(waits_for, 3)    /* task, a request that the span around, or the task's end, waits for */    \
    X(edge, 3)         /* predecessor, successor: tasks */                                         \
    X(unblock, 2)      /* task: what it was suspended for is there; by anybody */                  \
    X(wait_begin, 3)   /* task, WaitFor: the thread turns to other work or idles meanwhile */      \
    X(wait_end, 2)     /* task */                                                                  \
    X(idle, 1)         /* the thread has found nothing to do; until its next record */             \
    X(steal, 3)        /* the victim's row, tasks taken */                                         \
    X(polled, 4)       /* ticks since the first of the polls, ticks spent in them, runs << 32 |    \
                          completions */                                                           \
    X(priority, 3)     /* task, its new priority: a policy's decision */                           \
    X(policy_pass, 2)  /* ticks that the policy took to reconsider priorities, until now */        \
    X(core, 4)         /* pair(core, CoreStep), its owner's process, ticks waited for it */        \
    X(part_begin, 4)   /* a parallel region's number, its function, its workers */                 \
    X(part_end, 2)     /* the region's number */                                                   \
    X(object, 7)       /* set, pair(call, object), pair(its rank, the next one), its work in ns,   \
                          bytes, the rank's speed (a double) */                                    \
    X(balanced, 8)     /* set, pair(moved, failed), their bytes, pair(lambda of ranks, of nodes),  \
                          pair(the promised one, ranks << 1 | declined), ns, strategy's name */    \
    X(moved, 7)        /* task, call's name, its place in the code, pair(MovedHow, together),      \
                          ticks from its start to the wait, ticks of the wait, until now */        \
    X(offer, 3)   /* a parallel region's number, pair(offered, taken): of the thread's part */     \
    X(counted, 5) /* since the thread's last one: a number for each name in the header */          \
    X(window, 1)  /* too many tasks are unfinished: the creator lets others go first */            \
    X(refused, 3) /* bytes of a stack that could not be had, stacks in use */

enum class Kind : std::uint8_t {
#define SENNIT_TRACE_KIND(name, words) name,
    SENNIT_TRACE_KINDS(SENNIT_TRACE_KIND)
#undef SENNIT_TRACE_KIND
        count
};
inline constexpr std::uint8_t kWords[] = {
#define SENNIT_TRACE_KIND(name, words) words,
    SENNIT_TRACE_KINDS(SENNIT_TRACE_KIND)
#undef SENNIT_TRACE_KIND
};
inline constexpr std::ptrdiff_t kMostWords = 8;
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::count);

// What a thread does about a core that processes share. From a take to the next step it runs on it.
enum class CoreStep : std::uint8_t {
    own,      // takes a core of its process's
    borrowed, // takes another's
    without,  // goes on without one, beside those who have one
    lends,    // gives it, as it waits
    leaves,   // gives it, as somebody wants it back
    count
};

// What became of a call that the compiler's plug-in has moved: enum sennit_moved.
enum class MovedHow : std::uint8_t {
    later,   // started where it stood, waited for later, maybe together with others
    bound,   // to the end of its task
    at_once, // it was not moved after all
    count
};

// Why a thread waits; the names in tasks/sched/fiber.h.
enum class WaitReason : std::uint8_t {
    nobody, // a thread of no team at work
    children,
    taskgroup,
    dependences,
    barrier,
    resumption,
    events,
    lock,
    time,
    turn,
    primitive,
    count
};

// Time stamps are the processor's ticks; 56 bits of them are kept, enough to count from a process's
// start.
inline constexpr Word kTickMask = (Word{1} << 56) - 1;
constexpr Word stamp(std::uint64_t ticks, Kind kind) {
    return ticks << 8 | static_cast<Word>(kind);
}

constexpr std::uint64_t pair(int high, int low) {
    return std::uint64_t{static_cast<std::uint32_t>(high)} << 32 | static_cast<std::uint32_t>(low);
}
// A float in half a word.
constexpr int half_of(double value) {
    return std::bit_cast<int>(static_cast<float>(value));
}
constexpr double from_half(int half) {
    return std::bit_cast<float>(half);
}

// In the direction of a span: enum sennit_notice, 0 for neither.
inline constexpr std::uint32_t kNeither = 0, kSend = 1, kReceive = 2;

// Two clocks at one moment.
struct ClockPoint {
    std::uint64_t ticks;
    std::int64_t monotonic_ns;
};

// How far rank 0's CLOCK_MONOTONIC was ahead of ours when we met.
struct ClockOffset {
    std::int64_t monotonic_ns; // ours
    std::int64_t offset_ns;    // to add
    std::int64_t error_ns;     // half a round trip
};

enum HeaderFlag : std::uint32_t {
    kFinished = 1,  // the process ended in order; nothing is missing at the end
    kIncomplete = 2 // the disk was full, or memory: later events are missing, see `dropped`
};

struct Header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::uint32_t chunk_bytes;
    std::uint32_t flags;
    std::int32_t rank; // -1: unknown
    std::int32_t ranks;
    std::uint64_t process;
    std::int64_t realtime_ns; // CLOCK_REALTIME at `begin`
    ClockPoint begin;
    ClockPoint end; // the latest known; chunk headers hold more
    std::uint64_t dropped;
    std::uint32_t chunks;   // taken so far, whole or not
    std::uint32_t meetings; // with rank 0
    ClockOffset meeting[kMostMeetings];
    char boot_id[40]; // equal: same CLOCK_MONOTONIC
    char host[64];
    char program[256];
    char policy[32];
    char generator[32];
    char counters[kMostCounters][24]; // what is counted; empty: no more
    char job[64]; // the same for all ranks of a job, and no other's; empty: nobody has said so
};
static_assert(sizeof(Header) <= kHeaderBytes);

struct ChunkHeader {
    std::uint32_t kind;     // kEventChunk, kTableChunk; 0: taken, nothing written yet
    std::int32_t row;       // the worker's number, -1 for a thread that is none (yet)
    std::uint32_t thread;   // who wrote it: 0, 1, ... in the order of their first events
    std::uint32_t sequence; // the thread's first chunk is 0
    ClockPoint opened;
    std::uint64_t thread_id; // the system's
    std::uint64_t unused[3];
};
static_assert(sizeof(ChunkHeader) == 64);
inline constexpr std::ptrdiff_t kChunkWords = (kChunkBytes - sizeof(ChunkHeader)) / sizeof(Word);

// A table's records: word 0: bytes of the whole record (a multiple of 8) << 8 | type, word 1: key.
enum class TableType : std::uint8_t {
    none,
    name, // key: an entry's or a call's address; then text, zero-terminated
    // key: an entry's address; word 2: its offset in the module; then the module's path. For tools
    // that look up source lines.
    place,
    // key: a group in spans; word 2: size << 32 | ranks that follow (0: the group is the first
    // `size` ranks of the job); then ranks of the job, int32 each; then its name, zero-terminated
    group,
    row_name // key: row; then text
};

} // namespace sennit::trace
