// SPDX-License-Identifier: Apache-2.0
// The task runtime, where one is in the process: its functions are looked up by name, so that this
// library needs none. Without it every caller is outside of tasks.
#pragma once

#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"
#include "mpi/call/thread_state.h"
#include "wait/rows.h"

namespace sennit::mpi {

// What the runtime calls: handed in when the library is loaded, before the first look-up.
void answer_runtime(int (*serve)(void *), const sennit_describer &describer);

bool runtime_present();
bool is_watched();  // does a runtime tell of hangs? It may be there for nothing else
void begin_tasks(); // from now on there may be some, and calls that block say so
sennit_task *current_task();
bool is_explicit(sennit_task *task); // no implicit or initial one

// Is the caller an initial task with unfinished explicit tasks in its region? No barrier ends them.
bool leaves_tasks();
// Have other threads left such tasks, which only these can run?
bool others_leave_tasks();
// Would the caller's worker find something else to do if the task were suspended?
bool worker_wanted();
// Run tasks for about `ns` nanoseconds.
void run_tasks(std::int64_t ns);
// Does the function call one whose name `is_such` says so of, as far as its code tells?
bool code_calls(void (*function)(), int (*is_such)(const char *symbol));
bool is_workers_thread();                            // has the calling thread ever run a task?
bool spawn_task(void (*body)(void *arg), void *arg); // false: that is impossible
void libraries_loaded();                             // MPI has loaded its components
void meet_others(); // from now on calls may wait for processes that are not of the job
void suspend(sennit_task *task, const Operation &operation);
void resume(sennit_task *task);
void add_helpers(int more); // threads that work for suspended tasks
void bind_event(sennit_task *task);
void fulfil_event(sennit_task *task);
void fulfil_last_event(sennit_task *task); // the thread returns to the runtime afterwards

// A test of the caller's found nothing. A task that tests again and again keeps its thread. A
// suspended task may need that thread, perhaps the task which would make the test succeed.
#pragma GCC visibility push(hidden)
extern constinit thread_local unsigned t_tests_in_vain __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop
constexpr unsigned kTestsBeforeYield = wait::kTestsInTask.tests;
void yield_to_tasks();
// Where ranks outnumber cores, who would make the test succeed may need this one: in a task or not.
void rest_after_test();
inline void note_test_in_vain() {
    if (++t_tests_in_vain % kTestsBeforeYield == 0)
        yield_to_tasks();
    if (crowded()) [[unlikely]]
        rest_after_test();
}

// The calling task is about to send.
void note_send();
// How urgently other ranks wait for what the calling task leads to, if its policy wants those who
// send to it to know (engine/urgency.h); else -1.
int task_urgency();
// How many long sends of tasks may be under way, 0: any number; and which of them goes first.
int send_order(std::uint64_t &key);
void share_cores(void *board, int slot); // null: no more
void lend_core();                        // of the calling thread, while it waits
void reclaim_core();
void sleep_on(sennit_doorbell *bell); // idle workers, while something is pending
void count_pending(int more);         // operations that the runtime is to poll for

// What reports say of an operation.
sennit_wait wait_of(const Operation &operation);

} // namespace sennit::mpi
