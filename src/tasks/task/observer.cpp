// SPDX-License-Identifier: Apache-2.0
#include "tasks/task/observer.h"

#include "tasks/task/accounts.h"
#include "tasks/task/lifecycle.h"
#include "tasks/task/others.h"
#include "tasks/task/priorities.h"
#include "tasks/trace/trace.h"

namespace sennit::task {

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

namespace {

void observed_switch(sched::Worker &worker, const sched::Fiber &from, const sched::Fiber &to) {
    trace::fiber_switch(&from, &to);
    if (Observer *observer = task::observer(); observer && to.task)
        observer->resumes(worker, *to.task);
    if (observed::by(observed::kAccounts)) {
        // A task that waits there goes on at the end of its wait.
        const sched::Wait *const wait = to.waits.load(std::memory_order_relaxed);
        const bool waits_there = wait && wait->task == worker.task;
        if (worker.task && !waits_there)
            go_on_working(worker);
        else
            rest_from_work(worker);
    }
}

// Both enumerations give the kinds of waits the same numbers.
static_assert(static_cast<int>(sched::WaitFor::primitive) + 1 ==
              static_cast<int>(trace::WaitReason::count));
static_assert(static_cast<int>(sched::WaitFor::barrier) ==
              static_cast<int>(trace::WaitReason::barrier));

void observed_wait(sched::Worker &worker, const sched::Wait &wait, bool begins) {
    if (observed::by(observed::kAccounts)) {
        if (begins)
            rest_from_work(worker);
        else
            go_on_working(worker);
    }
    if (observed::by(observed::kFreeAgents))
        if (Others *const they = others())
            they->waits(worker, begins);
    if (!observed::by(observed::kTrace))
        return;
    const std::uint64_t id = worker.task ? worker.task->trace_id : 0;
    if (begins)
        trace::record(trace::Kind::wait_begin, id, static_cast<std::uint64_t>(wait.kind));
    else
        trace::record(trace::Kind::wait_end, id);
}

void observed_idle() {
    trace::idle();
}

} // namespace

constinit const sched::Client kSchedulerClient = {
    .run = run_item,
    .put_back = put_back,
    .reconsider = reconsider,
    .switched = observed_switch,
    .waits = observed_wait,
    .found_nothing = observed_idle,
};

} // namespace sennit::task
