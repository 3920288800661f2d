// SPDX-License-Identifier: Apache-2.0
// What a tool learns of the life of tasks. The room above that speaks to tools (openmp/ompt/) plugs
// in an Observer. It is called on the thread where something happens, while observed::kTool is set.
//
// As the tool sees it, a thread always has one current task. What Observer::starts, ends, suspends
// and resumes report is a chain: each event begins with the task that the one before ended with. A
// task that ends on the stack of another one leads back to that one. Any other leads back to the
// implicit task of the thread, whether or not that is suspended itself.
#pragma once

#include "base/observed.h"
#include "tasks/sched/client.h"
#include "tasks/sched/worker.h"

#include <atomic>
#include <cstdint>

namespace sennit::task {

struct Depend;

// What a tool knows about one task. Stands behind the task's payload, or in the Member of an
// implicit task.
struct ToolRecord {
    std::uint64_t data = 0; // the tool's
    // ompt_frame_t: where the task left the runtime and where it came back.
    struct Frame {
        void *exit = nullptr;
        void *enter = nullptr;
        std::int32_t exit_flags = 0x20;  // a frame pointer of the runtime's
        std::int32_t enter_flags = 0x10; // a canonical frame address, likewise
    } frame;
    Task *below = nullptr; // on whose stack it runs
    std::uint64_t wait_id = 0;
    int state = 0;         // while it waits: ompt_state_t
    bool created = false;  // the tool was told
    bool taskwait = false; // no task, but a taskwait with dependences
    bool at_once = false;  // its creator, alone in the team, ran it when it made it
    // Of the worksharing construct that an implicit task is in, an ompt_work_t and its size; a
    // `single` whose end nobody tells.
    int work = 0;
    std::uint64_t work_size = 0;
    bool in_single = false;
    // Iterations of a taskloop that the task executes.
    std::uint64_t first_iteration = 0;
    std::uint64_t iterations = 0;
    // Of a task with events, by who comes first: all are fulfilled, or the body has returned.
    enum class Detached : std::uint8_t { undecided, early, yes };
    std::atomic<Detached> detached{Detached::undecided};
    bool decide(Detached how) {
        Detached before = Detached::undecided;
        return detached.compare_exchange_strong(before, how, std::memory_order_acq_rel);
    }
};

class Observer {
  public:
    enum class End { complete, cancel, detach, pause }; // pause: the task will go on

    // Nobody can run `fresh` yet.
    virtual void created(sched::Worker &worker, Task &fresh, const Depend *depends, int count) = 0;
    // Edge of the graph: `predecessor` is not complete.
    virtual void ordered(Task &predecessor, Task &successor) = 0;
    // `below`: see ToolRecord; null where `task` has a fiber of its own.
    virtual void starts(sched::Worker &worker, Task &task, Task *below) = 0;
    virtual void ends(sched::Worker &worker, Task &task, End how) = 0;
    // `task` starts, but its body is skipped.
    virtual void discarded(Task &task) = 0;
    // The current task waits for an outside event, and goes on.
    virtual void suspends(sched::Worker &worker) = 0;
    // The worker turns to a fiber on which `task` was at work.
    virtual void resumes(sched::Worker &worker, Task &task) = 0;
    // The events of `task` are fulfilled; if late, that is after its body has returned.
    virtual void fulfilled(Task &task, bool late) = 0;

  protected:
    ~Observer() = default;
};

namespace detail {
extern Observer *g_observer;
} // namespace detail

// Null when there is no tool, or none has been looked for.
inline Observer *observer() {
    return observed::by(observed::kTool) ? detail::g_observer : nullptr;
}
void set_observer(Observer *observer); // null: for good

void observer_setup(); // once the recorder is set up

// What the scheduler asks of this room (tasks/sched/client.h).

extern const sched::Client kSchedulerClient;

} // namespace sennit::task
