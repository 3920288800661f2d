// SPDX-License-Identifier: Apache-2.0
// How a task waits for an accelerator: it is suspended, and a polling service asks for the event
// that tells of the end.
//
// Each wait has one wake-up: the service resumes its task when the event has happened, whatever its
// result. Idle workers call the service, and the ticker does at least every millisecond. The
// service never waits, and makes no call that could.
#pragma once

#include "accelerators/api.h"
#include "sennit.h"

#include <cstdint>

namespace sennit::accelerators {

// Where a zero stands while no call of the process can be in a task. Before the first call nobody
// has looked whether there is a runtime.
extern const std::int32_t *g_teams_with_tasks;

inline bool may_be_in_task() {
    return __atomic_load_n(__atomic_load_n(&g_teams_with_tasks, __ATOMIC_RELAXED),
                           __ATOMIC_RELAXED) != 0;
}

// Is the call that returns to `caller` to suspend its task? Not where the thread could run nothing
// else; not from a library that needs no OpenMP runtime, for locks that it holds would be the
// thread's; and not while the thread has an error that nobody has asked for, which another task
// would find there.
bool suspends(const void *caller);

// One wait, on the stack of its task.
struct AcceleratorWait {
    Event event = nullptr;           // null: another thread sets is_over
    int device = 0;                  // the task's, during the wait and after it
    sennit_task *task = nullptr;     // whom the service resumes
    AcceleratorWait *next = nullptr; // in the service's list
    int result = kSuccess;           // what was said of the event at the end
    bool is_over = false;            // end()

    // Suspend the calling task. `call` is for reports. False: that is impossible.
    bool for_event(Event what, const char *call);
    // The same, until end(); begin() is called when that may come. False: nothing has begun.
    bool for_end(bool (*begin)(AcceleratorWait &), const char *call);
    void end(); // any thread; the wait may be gone afterwards
};

// An event of ours behind what has been put into a stream so far.
class StreamEnd {
  public:
    explicit StreamEnd(Stream stream);
    ~StreamEnd();
    StreamEnd(const StreamEnd &) = delete;
    StreamEnd &operator=(const StreamEnd &) = delete;

    // Suspend the calling task until then. False: it is impossible, or there is no such event, as
    // for a stream of another device than the current one.
    bool wait(const char *call);
    // Then: what the stream's work has ended with. An error is the thread's last one, too.
    int result() const;

  private:
    Event event_ = nullptr;
    AcceleratorWait wait_;
};

// Has the stream something to do? What else than that or its end is told, the bare call is to say.
enum class Work : std::uint8_t { none, under_way, error };
Work work_in(Stream stream);

} // namespace sennit::accelerators
