// SPDX-License-Identifier: Apache-2.0
// A random program of OpenMP tasks, and what every correct execution of it has in common.
//
// A program is a tree of nodes: implicit tasks, explicit tasks and iterations of taskloops, each
// with a list of steps (make a task, wait, open a taskgroup, ...). `generate` draws one from a seed
// and interprets it in program order, which yields the values that each node reads and the
// constraints between points of time. An execution only records stamps and values; `differences`
// compares.
//
// Invariant: the dependences of a node's children are on cells that no other node's children use,
// so that program order decides every value, whatever runs beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stress {

enum class Access : std::uint8_t { in, out, inout, mutexinoutset, inoutset };
constexpr int kAccesses = 5;

struct Depend {
    int cell;
    Access access;
};

// How a task is written down: clauses that a program fixes when it is compiled; see execution.cpp.
enum class Shape : std::uint8_t {
    plain,
    payload,       // a medium block of firstprivate data
    depend,        // in, out and inout: the older layout of GCC's ABI
    depend_all,    // all types
    depend_object, // the first dependence as a depobj
    all_memory,    // depend(out: omp_all_memory)
    depend_null,   // and items that are null pointers, which are none
    untied,
    mergeable,
    big_payload, // firstprivate data larger than a slab's block
    detach,
    detach_depend,
    reduce, // in_reduction
    reduce_depend,
    cancel, // cancels its taskgroup at the end of the body
};

// Who fulfils a detached task's event, and when.
enum class Fulfil : std::uint8_t {
    body_begins,
    body_ends,
    others_early, // whoever finds the event, published when the body begins
    others_late,  // published when it ends
    creator,      // after the construct
};

struct Node;

struct Step {
    // With its name in program.cpp.
    enum Kind : std::uint8_t {
        task,
        taskwait,
        taskwait_depend,
        taskwait_nowait, // taskwait depend(...) nowait: only orders later siblings
        taskgroup,
        taskloop,
        yield,
        critical,
        lock,
        fulfil,  // somebody else's event
        suspend, // until somebody resumes the task; where the runtime offers it
        parallel,
        work,
    };
    Kind kind = work;
    // work: rounds; taskloop: grainsize or num_tasks; parallel: threads; lock: which
    int amount = 0;
    bool flag = false;           // taskloop: nogroup; lock: yield while holding it
    bool other = false;          // taskloop: num_tasks rather than grainsize
    int sync = -1;               // the stamp taken when the step is over
    std::vector<Node *> nodes;   // task: one; taskloop: iterations; parallel: implicit tasks
    std::vector<Step> steps;     // taskgroup
    std::vector<Depend> depends; // taskwait_depend, taskwait_nowait
    int reduction = -1;          // taskgroup with task_reduction: which
    std::vector<int> cells;      // taskwait: all that the node's children use; see `looks`
    int first_look = -1;         // where the values go that are found in `cells`
};

struct Node {
    int id = 0;
    Shape shape = Shape::plain;
    Fulfil fulfil = Fulfil::body_ends;
    bool binds = false;   // an event of the runtime's own to its task, fulfilled by `fulfil`, too
    bool deferred = true; // if clause
    bool final = false;
    bool in_final = false; // or one of its ancestors
    int priority = 0;
    int set_threads = 0;      // omp_set_num_threads in the body
    bool offers = false;      // its tasks to threads of no team; where the runtime has that
    int threads = 0;          // what omp_get_max_threads says before; 0: unknown
    int reduction = -1;       // in_reduction: of which taskgroup
    bool cancellable = false; // below a taskgroup that somebody cancels
    bool steady = false;      // the values of its dependences' cells are known
    int sync = -1;            // undeferred: the stamp after the construct, whose body is over
    std::vector<Depend> depends;
    std::vector<int> by_access[kAccesses]; // the same, cells by type
    std::vector<int> events_before;        // predecessors with an event
    int first_look = -1;                   // where the values go that it reads, one a dependence
    int first_cell = 0;                    // of its children
    int cells = 0;
    std::vector<Step> steps;

    bool detached() const { return shape == Shape::detach || shape == Shape::detach_depend; }
    bool has_event() const { return detached() || binds; }
};

const char *name(Step::Kind kind);

// What the value of a cell becomes.
std::uint32_t written(Access access, std::uint32_t before, int node);

// Node `before` is completed before `after` begins, or before the stamp of a sync is taken.
struct Order {
    int before;
    int after;              // a node, or
    int sync;               // >= 0
    bool body_only = false; // `before` has ended, but its event may not be fulfilled
};
struct Exclusion {
    int one, other;
};
// A value that is read, and what it must be.
struct Look {
    int node;
    bool known;
    std::uint32_t value;
};

struct Features {
    bool newer = true;      // inoutset, omp_all_memory, taskwait nowait: not in GCC 12
    bool suspend = true;    // the runtime's own; and its events
    bool lock_yield = true; // taskyield by who holds a lock: needs a runtime that comes back to it
    bool nested = true;     // parallel regions in tasks
    bool cancel = true;
    bool detach = true;
    bool pool = true; // the runtime's own: free agents
};

struct Program {
    std::uint64_t seed = 0;
    int threads = 1;   // of its region
    int mode = 0;      // how the roots are dealt out to the region's threads
    bool pool = false; // nodes may offer tasks, which must not reduce
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Node *> roots; // run by implicit tasks of the region
    int cells = 0, syncs = 0;
    std::vector<std::uint32_t> reductions; // expected sums
    std::vector<bool> reductions_known;
    std::vector<Order> orders;
    std::vector<Exclusion> exclusions;
    std::vector<Look> looks;
};

Program generate(std::uint64_t seed, int threads, const Features &features);

// xorshift64*
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x123456789u) {
        for (int i = 0; i < 4; ++i)
            next();
    }
    std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 2685821657736338717u;
    }
    int below(int bound) { return static_cast<int>((next() >> 33) % static_cast<unsigned>(bound)); }
    bool one_in(int n) { return below(n) == 0; }

  private:
    std::uint64_t state_;
};

} // namespace stress
