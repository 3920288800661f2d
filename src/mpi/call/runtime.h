// SPDX-License-Identifier: Apache-2.0
// The task runtime, where one is in the process: its functions are looked up by name, so that this
// library needs none. Without it every caller is outside of tasks.
#pragma once

#include "base/collective_names.h"
#include "mpi/call/call_path.h"

namespace sennit::mpi {

struct Operation;

bool runtime_present();
void begin_tasks(); // from now on there may be some
// MPI was initialized with MPI_THREAD_MULTIPLE: tasks may call from any thread.
void set_multiple(bool multiple);
bool multiple();
sennit_task *current_task();

// Is the caller an initial task with unfinished explicit tasks in its region? No barrier ends them.
bool leaves_tasks();
// Have other threads left such tasks, which only these can run?
bool others_leave_tasks();
// Would the caller's worker find something else to do if the task were suspended?
bool worker_wanted();
// Run tasks for about `ns` nanoseconds.
void run_tasks(std::int64_t ns);
bool code_may_block(void (*function)()); // does it call what may, as far as its code tells?
bool spawn_task(void (*body)(void *arg), void *arg); // false: that is impossible
void libraries_loaded();                             // MPI has loaded its components
void meet_others(); // from now on calls may wait for processes that are not of the job
void suspend(sennit_task *task, const Operation &operation);
void resume(sennit_task *task);
void add_helpers(int more); // threads that work for suspended tasks
void bind_event(sennit_task *task);
void fulfil_event(sennit_task *task);

// Cleared where the program wants its blocking calls to block (TAMPI_PROPERTY_THREAD_TASKAWARE).
#pragma GCC visibility push(hidden)
extern constinit thread_local bool t_taskaware __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

// Is the caller an OpenMP task (or in a like position) whose blocking calls should suspend it?
bool in_task();
// Is this the symbol of a call of the table that may block, in C or Fortran?
int is_blocking(const char *symbol);
// As sennit_notice, which has no name for none.
enum class Notice { none, send = SENNIT_NOTICE_SEND, receive = SENNIT_NOTICE_RECEIVE };
// A call begins that may block. Must it not block its thread? In a task that is to be suspended,
// and in a callback. A send is told to the runtime.
bool must_not_block(Notice notice = Notice::none);
// From MPI_Init on every call in a task suspends it, if only for a moment, whatever else there is.
void always_suspend();
// How a collective call of the calling thread is made. MPI does not match a blocking collective
// with a non-blocking one, so all ranks have to decide alike: by where the call stands in the
// program, not by how far this rank's tasks have come, nor by whether it ever had any. In an
// explicit task and in a callback it is the non-blocking form, everywhere else the blocking one.
// With SENNIT_COLLECTIVES=nonblocking, which is every rank's, it is always the non-blocking one.
enum class CollectiveForm {
    blocking,    // by the calling thread
    delegated,   // blocking, by a helper thread: tasks of this rank need the calling one
    nonblocking, // the task is suspended, or a callback polls
    started,     // non-blocking, and the calling thread blocks in a wait for it
};
// `has_twin`: may the non-blocking form be used in its place? Alike on all ranks, too.
CollectiveForm collective_form(bool has_twin);
// Its name in reports: the non-blocking form meets no blocking call.
#define SENNIT_COLLECTIVE_NAME(form, name)                                                         \
    ((form) == CollectiveForm::nonblocking || (form) == CollectiveForm::started                    \
         ? name SENNIT_IN_A_TASK                                                                   \
         : name)
// MPI is initialized: what SENNIT_COLLECTIVES asks for.
void choose_collectives();
// The same for calls that are known not to block when `never_blocks`.
inline bool in_task(bool never_blocks) {
    return !never_blocks && in_task();
}
inline bool must_not_block(Notice notice, bool never_blocks) {
    return !never_blocks && must_not_block(notice);
}

// A test of the caller's found nothing. Who tests again and again keeps a thread that a suspended
// task may need to go on, perhaps the one which would make the test succeed.
#pragma GCC visibility push(hidden)
extern constinit thread_local unsigned t_tests_in_vain __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop
constexpr unsigned kTestsBeforeYield = 16;
void yield_to_tasks();
inline void note_test_in_vain() {
    if (++t_tests_in_vain % kTestsBeforeYield == 0)
        yield_to_tasks();
}

void notify(Notice notice, int peer);
// How urgently other ranks wait for what the calling task leads to, if its policy wants those who
// send to it to know (engine/urgency.h); else -1.
int task_urgency();
// How many long sends of tasks may be under way, 0: any number; and which of them goes first.
int send_order(std::uint64_t &key);
void count_pending(int more); // operations that the runtime is to poll for

} // namespace sennit::mpi
