// SPDX-License-Identifier: Apache-2.0
// The event recorder: what ran where and when, for the timeline (SENNIT_TRACE=folder).
//
// Any room may call it. Off, each call is one load and one branch. On, an event goes to a buffer of
// the calling thread, without locks; buffers are written out at exit as <folder>/rank-<r>.json in
// Chrome's trace format. Task ids are unique in the process and never 0 while tracing is on.
//
// A thread's events tell a story that the writer replays: tasks nest on the stack of the fiber that
// runs (start, end); fiber_switch leaves that stack for another one, with whatever tasks are on it.
#pragma once

#include "base/compiler.h"

#include <cstddef>
#include <cstdint>

namespace sennit::trace {

extern bool g_on; // set once by setup(), before other threads exist

enum class Kind : std::uint8_t {
    none,    // no event: unwritten memory
    create,  // a: parent's id, b: entry address
    ready,   //
    start,   // a: entry address; on the recording thread
    end,     // the body has returned
    suspend, //
    resume,  //
    complete,
    fiber_switch, // a: the fiber that the recording thread leaves, b: the one that it enters
    span_begin,   // a: peer and tag, see pack_span; b: bytes; name
    span_end,
};

// The most that the buffers of a process may hold; later events are counted and dropped, so that
// the timeline is complete up to then. A task that never suspends takes 104 bytes.
inline constexpr std::size_t kMostMemory = std::size_t{256} << 20;

void setup();            // reads the configuration; registers the writer at exit
std::uint64_t next_id(); // a new task's id
// `name` must outlive the process's other threads: a literal.
void record(Kind kind, std::uint64_t task, std::uint64_t a = 0, std::uint64_t b = 0,
            const char *name = nullptr);
void set_rank(int rank); // by the MPI library, once known; else it is looked up in the environment
// As the launcher says; -1 when it does not.
int rank_of_environment();
void after_fork_in_child(); // drops what the parent recorded
// Tells which row of the timeline the calling thread is, -1 while it is none: the scheduler's
// worker number, set by a room that knows workers.
void set_row_of_thread(int (*row)());

inline bool on() {
    return SENNIT_UNLIKELY(g_on);
}

inline std::uint64_t pack_span(int peer, int tag) {
    return std::uint64_t{static_cast<std::uint32_t>(peer)} << 32 | static_cast<std::uint32_t>(tag);
}

inline void task_create(std::uint64_t &id, void *entry, std::uint64_t parent) {
    if (on()) {
        id = next_id();
        record(Kind::create, id, parent, reinterpret_cast<std::uint64_t>(entry));
    }
}
inline void task_ready(std::uint64_t id) {
    if (on())
        record(Kind::ready, id);
}
inline void task_start(std::uint64_t id, void *entry) {
    if (on())
        record(Kind::start, id, reinterpret_cast<std::uint64_t>(entry));
}
inline void task_end(std::uint64_t id) {
    if (on())
        record(Kind::end, id);
}
inline void task_suspend(std::uint64_t id) {
    if (on())
        record(Kind::suspend, id);
}
inline void task_resume(std::uint64_t id) {
    if (on())
        record(Kind::resume, id);
}
inline void task_complete(std::uint64_t id) {
    if (on())
        record(Kind::complete, id);
}
// By the scheduler, on the thread that switches.
inline void fiber_switch(const void *from, const void *to) {
    if (on())
        record(Kind::fiber_switch, 0, reinterpret_cast<std::uint64_t>(from),
               reinterpret_cast<std::uint64_t>(to));
}

} // namespace sennit::trace
