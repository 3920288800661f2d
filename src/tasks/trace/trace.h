// SPDX-License-Identifier: Apache-2.0
// The event recorder: what ran where and when (SENNIT_TRACE=folder).
//
// Any room may call it. Off, each call is one load and one branch. On, an event is counted
// (spent_time.h), or recorded, or both. Where it is recorded, it goes to a chunk of
// the calling thread, without locks. Chunks are pieces of the file <folder>/rank-<r>.sennit, mapped
// while they are filled: memory is bounded, nothing is dropped as long as the disk has room, and
// what was recorded survives any end of the process. format.h tells what is in the file. Task ids
// are unique in the process and never 0 while tracing is on.
//
// A thread's events tell a story that readers replay: tasks and waits nest on the stack of the
// fiber that runs (start, end; wait_begin, wait_end); fiber_switch leaves that stack for another
// one, with whatever is on it.
#pragma once

#include "base/compiler.h"
#include "base/hash.h"
#include "base/loaded_object.h"
#include "tasks/trace/format.h"

#include <cstddef>
#include <cstdint>

namespace sennit::trace {

// Set once, before other threads exist.
extern bool g_on;      // somebody wants to know of events
extern bool g_records; // they go to a file

void setup();            // reads the configuration
void begin_to_count();   // spent_time.h
std::uint64_t next_id(); // a new task's id
void record(Kind kind, Word a = 0, Word b = 0, Word c = 0, Word d = 0, Word e = 0, Word f = 0,
            Word g = 0);

// Records hold addresses for names; the file tells once what they mean.
void name_entry(std::uint64_t entry);
void name_literal(const char *name);
// A task's label is its name, in place of its function's: the address to record.
void *name_label(const char *label);
// See TableType::group; once for each group. `ranks` may be null.
void name_group(std::uint64_t group, int size, const int *ranks, const char *name);

// By the MPI library, once known; else the rank is looked up in the environment.
void set_rank(int rank, int ranks);
// See Meeting.
void set_clock(std::int64_t offset_ns, std::int64_t error_ns);
void after_fork_in_child(); // a file of its own
// Tells which row of the timeline the calling thread is, -1 while it is none: the scheduler's
// worker number, set by a room that knows workers.
void set_row_of_thread(int (*row)());

inline bool on() {
    return SENNIT_UNLIKELY(g_on);
}

inline void task_create(std::uint64_t &id, void *entry, std::uint64_t parent) {
    if (on()) {
        id = next_id();
        name_entry(reinterpret_cast<std::uint64_t>(entry));
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
inline void task_unblock(std::uint64_t id) {
    if (on())
        record(Kind::unblock, id);
}
inline void task_complete(std::uint64_t id) {
    if (on())
        record(Kind::complete, id);
}
// `waits`: the predecessor is not complete. This is not in the file, for it has both tasks' times.
inline void edge(std::uint64_t predecessor, std::uint64_t successor, bool waits) {
    if (on())
        record(Kind::edge, predecessor, successor, waits ? 1 : 0);
}
inline void steal(int victim, std::uint64_t count) {
    if (on())
        record(Kind::steal, static_cast<Word>(victim), count);
}
inline void priority(std::uint64_t id, int priority) {
    if (on())
        record(Kind::priority, id, static_cast<Word>(static_cast<std::int64_t>(priority)));
}
inline void policy_pass(std::uint64_t ticks) {
    if (on())
        record(Kind::policy_pass, ticks);
}
inline void window() {
    if (on())
        record(Kind::window);
}
inline void refused_stack(std::uint64_t bytes, std::uint64_t in_use) {
    if (on())
        record(Kind::refused, bytes, in_use);
}
inline void idle() {
    if (on())
        record(Kind::idle);
}
inline void core(CoreStep step, int core, int owner, std::uint64_t waited) {
    if (on())
        record(Kind::core, pair(core, static_cast<int>(step)), static_cast<Word>(owner), waited);
}
// The thread's part in a parallel region of so many workers; or what a worker of it runs on a fiber
// of its own. Parts nest as tasks do.
inline void part_begin(std::uint64_t region, std::uint64_t function, int workers) {
    if (on()) {
        if (function)
            name_entry(function);
        record(Kind::part_begin, region, function, static_cast<Word>(workers));
    }
}
inline void part_end(std::uint64_t region) {
    if (on())
        record(Kind::part_end, region);
}
// In its part, the thread has offered others so many threads of the region, and they took so many.
inline void offer(std::uint64_t region, int offered, int taken) {
    if (on())
        record(Kind::offer, region, pair(offered, taken));
}
// By the scheduler, on the thread that switches.
inline void fiber_switch(const void *from, const void *to) {
    if (on())
        record(Kind::fiber_switch, reinterpret_cast<std::uint64_t>(from),
               reinterpret_cast<std::uint64_t>(to));
}

// A round of polling took from `begin` until now; rounds are added up and recorded now and then.
void polled(std::uint64_t begin, int completions);

// From the address of a task's function to the name that a person reads on the timeline.
//
// First the dynamic symbols (dladdr); compilers' outlined functions are local, so then the .symtab
// of the object file; in a stripped object "module+0x...".

// "main._omp_fn.3" -> "main task 3"; C++ names are demangled; no dots around the name. malloc'ed,
// null without memory.
char *readable_name(const char *symbol);

class Symbols {
  public:
    Symbols() = default;
    ~Symbols();
    Symbols(const Symbols &) = delete;
    Symbols &operator=(const Symbols &) = delete;

    // Lives as long as this object. 0 is "task".
    const char *name_of(std::uint64_t address);
    // The file that holds it, and where in it, counted from the load bias; null when unknown.
    static const char *module_of(std::uint64_t address, std::uint64_t *offset);

  private:
    struct Module { // an object file, mapped
        const void *link_map;
        ElfFile file;
    };
    const char *find(std::uint64_t address);
    const Module *module_of(const void *link_map, const char *path);
    WordMap<const char *> names_;
    ScopedArray<Module> modules_;
    ScopedArray<char *> owned_;
};

} // namespace sennit::trace
