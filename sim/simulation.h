// SPDX-License-Identifier: Apache-2.0
// A discrete-event simulation of a job: each rank creates its tasks, its threads run them in the
// order of a policy, tasks that wait for messages are suspended. Who runs first is decided by the
// runtime's own code (src/decide/tasks); here is only what that code is driven by.
#pragma once

#include "decide/tasks/rules.h"
#include "fabric.h"
#include "machine.h"
#include "workload.h"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sennit::sim {

struct Choice {
    std::string name; // as typed: fifo, sa, ...
    policy::Rules rules;
    Marks marks = Marks::none;
};
// Throws std::invalid_argument. "path" is no policy of the runtime: priorities from the whole job's
// graph, which no rank can know, to see what knowledge beyond a rank would gain.
Choice parse_choice(const std::string &policy, const std::string &order = "auto");
std::vector<std::string> known_choices();

// Told what happened, about in the order of simulated time. A task has one number, a rank and its
// threads count from 0.
class Recorder {
  public:
    struct Ran {
        int rank, thread;
        std::uint64_t task;
        int function;
        Kind kind;
        Part part = Part::whole;
        Time begin, end;
        // Calls of MPI; suspended: the call is not over at `end`, the task waits.
        std::uint32_t peer;
        std::uint64_t message, bytes;
        bool suspended;
    };
    enum class Creator { creates, helps, waits_for_all, is_done };

    virtual ~Recorder() = default;
    virtual void created(int rank, std::uint64_t task, int function, Time at) = 0;
    // Right after the creation of `after`; `before` may have ended.
    virtual void depends(int rank, std::uint64_t before, std::uint64_t after) = 0;
    // Told when it begins: `end` is later.
    virtual void ran(const Ran &what) = 0;
    virtual void ended(int /*rank*/, int /*thread*/, std::uint64_t /*task*/, Time /*at*/) {}
    virtual void prioritized(int /*rank*/, std::uint64_t /*task*/, int /*priority*/, Time /*at*/) {}
    // Its last predecessor has ended on that thread.
    virtual void ready(int /*rank*/, int /*thread*/, std::uint64_t /*task*/, Time /*at*/) {}
    virtual void unblocked(int /*rank*/, std::uint64_t /*task*/, Time /*at*/) {}
    virtual void creator(int /*rank*/, Creator /*does*/, Time /*at*/) {}
    virtual void idles(int /*rank*/, int /*thread*/, Time /*at*/) {}
};

struct Progress {
    std::uint64_t done, total; // tasks; total 0: unknown
    Time time;
};

struct Result {
    Time time = 0;               // of the job
    double in_task = 0;          // thread-seconds: bodies of tasks, calls of MPI
    double overhead = 0;         // the runtime's own steps
    double idle = 0;             // all else
    std::vector<double> idle_of; // of each rank's threads
    double busiest_rank = 0;     // seconds: a bound, its tasks' time / its threads
    double busiest_card = 0;     // seconds: a bound, its messages' time (LogGP)
    double mean_work = 0;        // seconds: the same of all ranks
    std::uint64_t tasks = 0, compute = 0, sends = 0, receives = 0;
    std::uint64_t messages = 0, bytes = 0, suspended = 0;
    std::uint64_t raises = 0, passes = 0, events = 0;
    std::uint64_t most_unfinished = 0; // in any rank, at once
    std::uint64_t checksum = 0;        // of the schedule: equal runs have equal ones
};

// Nothing can move any more, and not all is done: a message without the other end, or a cycle.
struct Stuck : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Setting {
    Machine machine;
    Choice choice;
    std::uint64_t seed = 1;
    Recorder *recorder = nullptr;
    MakeFabric *make_fabric = nullptr;
    std::function<void(const Progress &)> progress; // now and then
};

Result simulate(const Workload &workload, const Setting &setting);

// No schedule is shorter than the longest chain of tasks and messages: the time on a machine with a
// thread for every ready task and a card for every message, where the runtime costs nothing.
Time critical_path(const Workload &workload, const Setting &setting);

} // namespace sennit::sim
