// SPDX-License-Identifier: Apache-2.0
// Threads come and go (OpenMP 5.2, 19.5.2.1, 19.5.2.2).
//
// A thread of the program is an initial thread from its first use of OpenMP to its end, or to that
// of the program. A thread of ours is an OpenMP thread while it is docked at a team.
#include "omp/team/thread_events.h"

#include "omp/events/events.h"
#include "omp/team/team.h"

namespace sennit::ompt {
namespace {

void thread_begin(ThreadType type) {
    if (t_thread.begun)
        return;
    t_thread.begun = true;
    t_thread.data = {0};
    g_tool.thread_begin(type, &t_thread.data);
}

void thread_end() {
    if (!t_thread.begun)
        return;
    g_tool.thread_end(&t_thread.data);
    t_thread.begun = false;
}

} // namespace

void initial_thread_end(omp::Member &initial) {
    if (!t_thread.begun)
        return;
    g_tool.implicit_task(kEnd, nullptr, data_of(initial.record), 0, 1, kTaskInitial);
    t_thread.current = nullptr;
    thread_end();
}

namespace {

// A thread of the program ends. Its worker is still its own.
void goodbye(sched::Worker &worker) {
    if (!t_thread.begun || !on() || omp::is_initial_thread()) // that one ends with the program
        return;
    initial_thread_end(omp::member_of(worker));
}

// This runs early, while what a tool keeps for the thread is still there. Later destructors may use
// OpenMP again. Then the thread is an OpenMP thread once more, and at_thread_end() is its end.
struct Goodbye {
    sched::Worker *worker = nullptr;
    ~Goodbye() {
        if (worker)
            goodbye(*worker);
    }
};
thread_local Goodbye t_goodbye;

} // namespace

void initial_thread_begin(sched::Worker &worker) {
    if (t_thread.begun) // the tool itself uses OpenMP
        return;
    omp::Member &member = omp::member_of(worker);
    thread_begin(kThreadInitial);
    t_thread.current = &member.implicit;
    member.record.data = 0;
    member.team->tool.data = {0};
    t_goodbye.worker = &worker;
    sched::at_thread_end(goodbye);
    g_tool.implicit_task(kBegin, &member.team->tool.data, data_of(member.record), 1, 1,
                         kTaskInitial);
}

void worker_begin() {
    thread_begin(kThreadWorker);
}

void worker_end() {
    thread_end();
}

} // namespace sennit::ompt
