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

} // namespace sennit
