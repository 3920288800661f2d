// SPDX-License-Identifier: Apache-2.0
// What a person wants to know of a job's trace, as numbers; no output format in here.
#pragma once

#include "efficiency.h"
#include "trace/trace_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::report {

// From the first task's creation to the last one's end, on whatever rank; the whole trace when
// there are no tasks.
Window window_of_tasks(const Job &job);

// How a thread's time divides (communication-aware scheduling, section 4.3). The parts add up to
// the window, as far as the thread lived.
struct Shares {
    Ns task = 0;              // in bodies of explicit tasks
    Ns program = 0;           // in the program's code outside of explicit tasks, MPI not counted
    Ns program_mpi = 0;       // in MPI calls there
    Ns idle = 0;              // outside, with no task ready in the process; without progress_idle
    Ns overhead = 0;          // outside, with ready tasks; without progress_overhead
    Ns progress_idle = 0;     // polling for communication while nothing is ready
    Ns progress_overhead = 0; // and while something is
    Ns total() const {
        return task + program + program_mpi + idle + overhead + progress_idle + progress_overhead;
    }
    // The paper counts the progress of communication in with these.
    Ns paper_idle() const { return idle + progress_idle; }
    Ns paper_overhead() const { return overhead + progress_overhead; }
    Ns progress() const { return progress_idle + progress_overhead; }
    Shares &operator+=(const Shares &other);
};

// One for each thread of the process; all zero for threads that are no workers.
std::vector<Shares> divide_time(const Process &process, const Window &window);

// The longest chain of work: each piece could begin only when the one before was done, because of a
// dependence, a creation, a taskwait or a message (which itself costs nothing here). However many
// threads there are, however quick the network: no schedule is faster.
struct PathPiece {
    std::uint32_t process, task;
    Ns ran;           // of the task, on the path
    bool via_message; // what was before it was the sender
};
struct CriticalPath {
    Ns length = 0;
    std::vector<PathPiece> pieces; // first to last
    std::uint32_t messages = 0;
};
CriticalPath critical_path(const Job &job);

// Calls in which tasks, or threads, waited.
struct Waited {
    int rank;
    std::string call;
    std::string task; // the name of the tasks that made it; "" outside of tasks
    int peer;         // -1: nobody in particular
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    Ns total = 0;   // from begin to end, the call's own work not counted
    Ns longest = 0; //
    int longest_tag = -1;
};
// Of calls that begin in the window; by total, longest first.
std::vector<Waited> who_waited(const Job &job, const Window &window);

// Tasks of a function.
struct TaskKind {
    std::string name;
    std::uint64_t count = 0;
    Ns running = 0;
    bool sends = false, receives = false;
    int lowest_priority = 0, highest_priority = 0;
    Ns waited_ready = 0; // from ready to start, summed
    // Of the threads that were about to start one: outside of tasks, while some task was ready.
    Ns overhead = 0;
    // By the thread that made it, before it did anything else: that had made too many, or the
    // program wants it so.
    std::uint64_t at_once = 0;
    double overhead_part() const {
        return running + overhead > 0
                   ? static_cast<double>(overhead) / static_cast<double>(running + overhead)
                   : 0;
    }
};
// By running time, longest first.
std::vector<TaskKind> task_kinds(const Job &job);

// The time between the send's begin and the receive's end of the messages, sorted.
std::vector<Ns> message_times(const Job &job);

// Rows for spans that may overlap: each gets the lowest one that is free. `spans`: by begin.
std::vector<int> lanes_of(const std::vector<Window> &spans);

// FA's passes over all priorities.
struct PolicyWork {
    std::uint64_t passes = 0;
    Ns spent = 0;
};
PolicyWork policy_work(const Job &job);

// What creators of tasks and threads had to do without: all ranks together.
struct Shortages {
    std::uint64_t created = 0;  // tasks
    std::uint64_t windows = 0;  // creations that let other tasks go first: too many were unfinished
    std::uint64_t refusals = 0; // of stacks; of the first one its bytes, and how many were in use
    std::uint64_t refused_bytes = 0, stacks_in_use = 0;
    std::uint64_t polls = 0, completions = 0; // rounds of polling, and what they found
};
Shortages shortages_of(const Job &job);

// Each process's node, numbered from 0 in the order of their first ranks. Cores of two nodes may
// have the same number, and processes, too.
std::vector<std::uint32_t> nodes_of(const Job &job);

// How a process used the cores that it shares with others; all threads together.
struct CoreShares {
    Ns own = 0;      // on its own
    Ns borrowed = 0; // on others'
    Ns lent = 0;     // others, of the job, on its own
    Ns without = 0;  // beside those who had one
    Ns waited = 0;   // for one
    std::uint64_t borrowings = 0;
    std::uint64_t recalls = 0; // it left one that was wanted back
    std::uint64_t late = 0;    // it went on without one: none was returned in time
    Ns used() const { return own + borrowed; }
};
// By process; empty if no core was shared.
std::vector<CoreShares> core_shares(const Job &job);

// How evenly work is spread: the percent imbalance of the paper openmp-in-charm, equation 1. Work
// is what is in tasks and in the program, without its MPI.
struct Spread {
    std::size_t parts = 0;
    Ns most = 0; // of one part
    Ns all = 0;
    Ns mean() const { return parts > 0 ? all / static_cast<Ns>(parts) : 0; }
    // lambda, in percent: 0 is perfect balance
    double imbalance() const;
};
// A parallel region, as it ran.
struct RegionRun {
    std::uint64_t function = 0;
    int workers = 0;
    Ns begin = 0, end = 0;              // from its first part to its join
    std::map<std::uint32_t, Ns> begins; // by thread
    bool offers = false;
    int offered = 0, taken = 0;
};
std::vector<RegionRun> region_runs(const Process &process);
std::string region_name(const Process &process, std::uint64_t function);

// Parallel regions of a function: the sums of their most loaded workers, and of the means.
struct RegionKind {
    std::string name;
    std::uint64_t runs = 0;
    int workers = 0; // the most
    Ns work = 0;     // of all workers
    double most = 0, mean = 0;
    // Where threads are split, and a part of them is offered: of all runs.
    bool offers = false;
    std::uint64_t offered = 0, taken = 0;
    double imbalance() const { return mean > 0 ? 100 * (most / mean - 1) : 0; }
    double lost() const { return most - mean; } // by which they would have ended sooner
};
struct Balance {
    Spread nodes, ranks, threads;
    std::vector<RegionKind> regions; // of several workers; what loses most first
};
// `shares`: of the processes' threads.
Balance balance_of(const Job &job, const std::vector<std::vector<Shares>> &shares);

// Calls at one place of the program that the compiler's plug-in has moved. A wait for several calls
// counts for each of them in equal parts: so the sum of what was waited is the threads' time.
struct MovedKind {
    std::string call;
    std::string place; // "file:line" where that is known
    trace::MovedHow how = trace::MovedHow::later;
    std::uint64_t times = 0;
    int together = 1;  // the most that one wait was for
    Ns until_wait = 0; // all times: from the start to the wait, or to the task's end
    Ns under_way = 0;  // from the start to the end
    Ns waited = 0;
    // Of the time under way; 0 if nothing took time.
    double hidden() const {
        return under_way > 0 ? 1 - static_cast<double>(waited) / static_cast<double>(under_way) : 0;
    }
};
// By the time that was hidden, most first.
std::vector<MovedKind> moved_calls(const Job &job);

// What a call of sennit_balance() found, promised and did, and what came of it. Sets of objects are
// numbered from 0 in the order of their first calls.
struct BalanceCallRow {
    std::size_t set;
    int call; // from 0
    Ns at;
    std::string strategy;
    double imbalance, node_imbalance, promised; // of the period before it, in percent
    double then = -1; // the imbalance in the period behind it; -1: nobody has told
    Ns lost = 0;      // by so much the most loaded rank worked longer than the mean; before it
    Ns lost_then = 0; // and behind it
    int moved, failed;
    bool declined;
    std::uint64_t bytes;
    Ns took;
};
struct ObjectSum {
    std::size_t set;
    int object;
    int rank; // in the job, where it was last
    int moves = 0;
    Ns work = 0;
    std::uint64_t bytes = 0; // the last size
};
struct ObjectsOfRank {
    int rank;
    Ns work = 0;
    std::uint64_t held = 0; // objects, at the end
    std::uint64_t came = 0, left = 0;
    std::uint64_t bytes_left = 0;
};
struct Objects {
    std::size_t sets = 0;
    std::vector<BalanceCallRow> calls; // by time
    std::vector<ObjectSum> objects;    // by work, most first
    std::vector<ObjectsOfRank> ranks;  // those that had some
    Ns took = 0;
    std::uint64_t moved = 0, bytes = 0;
};
Objects objects_of(const Job &job);

// What was counted of tasks of a function, of the program outside of tasks, and of the runtime.
struct Counted {
    std::string name;
    std::uint64_t tasks = 0; // 0: these are none
    std::vector<std::uint64_t> values;
};
struct Counters {
    std::vector<std::string> names;
    std::vector<Counted> rows; // tasks as in task_kinds(), then the other two
    std::uint64_t value(const Counted &row, std::string_view name) const; // 0: it is not there
    // Instructions a cycle, and misses of caches and branches in 1000 instructions.
    std::optional<double> instructions_a_cycle(const Counted &row) const;
    std::optional<double> cache_misses(const Counted &row) const;
    std::optional<double> branch_misses(const Counted &row) const;
};
// Of all ranks, in the whole trace. No rows if nothing was counted.
Counters counters_of(const Job &job, const std::vector<TaskKind> &kinds);

// A number over time, for viewers that draw curves.
struct Curve {
    struct Point {
        Ns at;
        std::uint64_t value;
    };
    std::string name;
    int number; // of the name, the same in every trace; 0: a name that the trace has brought along
    std::uint32_t thread; // its index; kNone: of the process
    bool adds_up;         // a point says what came since the one before; else what is from then on
    std::vector<Point> points; // by time
};
// What threads counted, and found by polling; tasks that are ready and that wait, by reason; what
// there was not enough of. Those without points are left out.
std::vector<Curve> curves_of(const Process &process);

// All of it: a run is analysed once, however many tables and pages are made of it.
struct Findings {
    Findings() = default;
    explicit Findings(const Job &job);
    Shares of(std::size_t process) const; // its threads' shares
    Shares all() const;

    Window window{};
    std::vector<std::vector<Shares>> shares; // by process and thread
    Efficiencies efficiencies;
    CriticalPath path;
    std::vector<Waited> waits;
    std::vector<TaskKind> kinds;
    Counters counters;
    PolicyWork policy;
    Shortages shortages;
    std::vector<CoreShares> cores;
    Balance balance;
    Objects objects;
    std::vector<MovedKind> moved;
};

// Names that compilers make up, and places of calls, become "file:line" where the program has debug
// information and addr2line is there.
void name_by_source(Job &job);

} // namespace sennit::report
