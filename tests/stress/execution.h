// SPDX-License-Identifier: Apache-2.0
// One run of a program by the OpenMP runtime, and what it left behind.
//
// Stamps come from one relaxed counter: it orders events without ordering memory, so that a
// sanitizer sees exactly the synchronisation that the runtime makes. Everything else that tasks
// write is plain memory.
#pragma once

#include "program.h"

#include <atomic>
#include <cstdint>
#include <omp.h>
#include <string>
#include <vector>

namespace stress {

struct Execution {
    using Stamp = std::atomic<std::uint32_t>;
    static constexpr int kLocks = 3;

    explicit Execution(const Program &program);
    ~Execution();

    // In a parallel region of the calling thread's own.
    void run();

    std::uint32_t stamp() { return clock.fetch_add(1, std::memory_order_relaxed); }

    const Program &program;
    Stamp clock{1};
    std::vector<Stamp> begun, ended, fulfilled, synced;
    std::vector<std::atomic<const Step *>> now; // what a node is at, for who looks for a hang
    std::vector<std::uint32_t> cells, found, notes;
    std::vector<std::uint32_t> reductions;
    std::uint32_t *volatile nothing = nullptr;
    omp_lock_t locks[kLocks];
    std::uint32_t locked[kLocks] = {}; // guarded by the lock
    std::uint32_t critical = 0;        // guarded by a critical section
    Stamp uses[kLocks + 1] = {}; // how often they were used; the last is the critical section's

    // Events that must not happen.
    Stamp ran_twice{0}, moved{0}, bad_payload{0}, bad_final{0}, bad_threads{0}, bad_note{0},
        bad_reader{0}, early_resume{0};
};

// What is wrong with an execution that is over: a line each.
std::vector<std::string> differences(const Execution &run);

// What the fulfiller of a detached task's event leaves for its successors.
inline std::uint32_t note_of(int node) {
    return static_cast<std::uint32_t>(node) * 40503u + 7;
}

// ---- outside.cpp: who fulfils events and resumes tasks --------------------------------------

// Of a detached task; or what a body has bound to its own task.
struct Event {
    omp_event_handle_t handle{};
    void *task = nullptr;
};
struct Errand {
    Execution *run = nullptr;
    int node = 0;
    Event event;               // to fulfil, or
    void *suspended = nullptr; // to resume
    std::uint32_t *told = nullptr;
};
void fulfil(Execution &run, int node, const Event &event);
// To the calling task, which is returned.
void *bind_event();
// To whoever comes next: a task or the thread outside.
void publish(const Errand &errand);
// Do one errand, if there is any.
void do_errand();

// Suspend the calling task until somebody has done its errand; nothing where the runtime has no
// such thing.
bool can_suspend();
void suspend_task(Execution &run);

// Offer the tasks that the calling task makes from now on to free agents.
bool can_offer();
void offer_tasks();

// Start the thread outside of OpenMP. It also ends the process when the program at hand takes more
// than `limit_s` seconds.
void start_outside(int limit_s);
void stop_outside();
// The program that a thread is at; null when it is done.
void watch(int user, const Execution *run);

} // namespace stress
