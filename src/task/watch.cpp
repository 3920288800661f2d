// SPDX-License-Identifier: Apache-2.0
#include "task/watch.h"

#include "task/task.h"
#include "trace/trace.h"

namespace sennit {

std::uint8_t watch::g_who = 0;

namespace task {

Watcher *detail::g_watcher = nullptr;

void set_watcher(Watcher *watcher) {
    detail::g_watcher = watcher;
    if (watcher)
        watch::set(watch::kTool);
    else
        watch::clear(watch::kTool);
}

void watch_setup() {
    if (trace::on())
        watch::set(watch::kTrace);
}

} // namespace task

void sched::watched_switch(Worker &worker, const Fiber &from, const Fiber &to) {
    trace::fiber_switch(&from, &to);
    if (task::Watcher *watcher = task::watcher(); watcher && to.task)
        watcher->resumes(worker, *to.task);
}

} // namespace sennit
