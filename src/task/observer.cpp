// SPDX-License-Identifier: Apache-2.0
#include "task/observer.h"

#include "task/task.h"
#include "trace/trace.h"

namespace sennit {

std::uint8_t observed::g_who = 0;

namespace task {

Observer *detail::g_observer = nullptr;

void set_observer(Observer *observer) {
    detail::g_observer = observer;
    if (observer)
        observed::set(observed::kTool);
    else
        observed::clear(observed::kTool);
}

void observer_setup() {
    if (trace::on())
        observed::set(observed::kTrace);
}

} // namespace task

void sched::observed_switch(Worker &worker, const Fiber &from, const Fiber &to) {
    trace::fiber_switch(&from, &to);
    if (task::Observer *observer = task::observer(); observer && to.task)
        observer->resumes(worker, *to.task);
}

// Kinds of waits are numbered alike.
static_assert(static_cast<int>(sched::WaitFor::primitive) + 1 ==
              static_cast<int>(trace::WaitReason::count));
static_assert(static_cast<int>(sched::WaitFor::barrier) ==
              static_cast<int>(trace::WaitReason::barrier));

void sched::observed_wait(Worker &worker, const Wait &wait, bool begins) {
    const std::uint64_t id = worker.task ? worker.task->trace_id : 0;
    if (begins)
        trace::record(trace::Kind::wait_begin, id, static_cast<std::uint64_t>(wait.kind));
    else
        trace::record(trace::Kind::wait_end, id);
}

void sched::observed_idle() {
    trace::idle();
}

} // namespace sennit
