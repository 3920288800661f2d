// SPDX-License-Identifier: Apache-2.0
// The rooms around tasks/sched and tasks/poll, as far as these tests need them: workers run on the
// explorer's threads, and a fiber that was made ready goes on for a moment only.
#pragma once

#include "schedules.h"
#include "tasks/sched/worker.h"

#include <array>
#include <functional>

namespace sennit::schedules {

// What a test sets in its begin().
struct Rooms {
    std::span<sched::Worker> workers; // of all groups
    std::function<void(sched::Item &)> run;
    std::function<void(sched::Fiber &)> resume;
    bool is_crowded = false;
    bool yields_in_vain = false;
    // What a new thread of the library's runs.
    void *(*thread)(void *) = nullptr;
    void *thread_argument = nullptr;
};
extern Rooms g_rooms;

// The calling thread of the test is the worker's: its loop, which ends by end_thread() only.
void run_worker(sched::Worker &worker);

} // namespace sennit::schedules
