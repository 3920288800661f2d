// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/runtime.h"

#include "base/compiler.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/thread_state.h"

namespace sennit::mpi {

constinit thread_local unsigned t_tests_in_vain __attribute__((tls_model("initial-exec"))) = 0;

namespace {

const RuntimeFunctions &runtime() {
    return g_calls.runtime.get();
}

// All of them, or null.
const RuntimeFunctions *present() {
    const RuntimeFunctions &functions = runtime();
    return functions.has_tasks() ? &functions : nullptr;
}

int kind_of(sennit_task *task) {
    int kind = SENNIT_TASK_EXPLICIT;
    runtime().sennit_task_get_kind(task, &kind);
    return kind;
}

} // namespace

void answer_runtime(int (*serve)(void *), const sennit_describer &describer) {
    g_calls.serve = serve;
    g_calls.describer = &describer;
}

bool runtime_present() {
    return present() != nullptr;
}
bool is_watched() {
    return runtime().complete;
}
void begin_tasks() {
    attend_to_tasks(runtime().sennit_teams_with_tasks());
}

sennit_task *current_task() {
    sennit_task *task = nullptr;
    runtime().sennit_task_self(&task);
    return task;
}

bool leaves_tasks() {
    const RuntimeFunctions *const found = present();
    return found && found->sennit_should_suspend() &&
           kind_of(current_task()) == SENNIT_TASK_INITIAL;
}

bool others_leave_tasks() {
    const RuntimeFunctions *const found = present();
    return found && found->sennit_tasks_outside() && !leaves_tasks();
}

bool worker_wanted() {
    const RuntimeFunctions *const found = present();
    return !found || found->sennit_worker_wanted();
}

void run_tasks(std::int64_t ns) {
    runtime().sennit_task_wait_ns(static_cast<std::uint64_t>(ns), nullptr);
}

bool code_calls(void (*function)(), int (*is_such)(const char *)) {
    return runtime().sennit_code_calls(reinterpret_cast<const void *>(function), is_such) != 0;
}

bool is_workers_thread() {
    sennit_task *task = nullptr;
    return runtime().sennit_task_self(&task) == SENNIT_SUCCESS;
}

bool is_explicit(sennit_task *task) {
    return kind_of(task) == SENNIT_TASK_EXPLICIT;
}

bool spawn_task(void (*body)(void *), void *arg) {
    return runtime().sennit_task_spawn(body, arg, nullptr, nullptr, "MPI callback") ==
           SENNIT_SUCCESS;
}

void suspend(sennit_task *task, const Operation &operation) {
    const InCallback::Aside aside;
    const sennit_wait wait = wait_of(operation);
    runtime().sennit_task_suspend_for(task, &wait);
}
void yield_to_tasks() {
    if (!in_task())
        return;
    const InCallback::Aside aside;
    runtime().sennit_task_tests();
}
void rest_after_test() {
    // To switch to another task costs less than to leave the core, and it may test, too.
    constexpr unsigned tests = wait::kProgramTests.tests;
    if (t_tests_in_vain % tests == 0 && t_tests_in_vain % kTestsBeforeYield != 0)
        yield_to_tasks();
    if (void (*const rest)() = g_calls.test_rest.load(std::memory_order_relaxed))
        rest();
}
void libraries_loaded() {
    if (is_watched())
        runtime().sennit_libraries_loaded();
}
void meet_others() {
    if (is_watched())
        runtime().sennit_meets_others();
}
void resume(sennit_task *task) {
    runtime().sennit_task_resume(task);
}
void add_helpers(int more) {
    runtime().sennit_helpers(more);
}
void bind_event(sennit_task *task) {
    runtime().sennit_task_events_increase(task, 1);
}
void fulfil_event(sennit_task *task) {
    runtime().sennit_task_events_decrease(task, 1);
}
void fulfil_last_event(sennit_task *task) {
    runtime().sennit_task_event_last(task);
}

void note_send() {
    if (inside_mpi())
        return;
    if (const RuntimeFunctions *const found = present())
        found->sennit_notify(SENNIT_NOTICE_SEND, -1, 0);
}

void sleep_on(sennit_doorbell *bell) {
    if (const RuntimeFunctions *const found = present())
        found->sennit_poll_doorbell(bell);
}

void share_cores(void *board, int slot) {
    if (const RuntimeFunctions *const found = present())
        found->sennit_pool_share(board, slot);
}
void lend_core() {
    if (const RuntimeFunctions *const found = present())
        found->sennit_pool_lend();
}
void reclaim_core() {
    if (const RuntimeFunctions *const found = present())
        found->sennit_pool_reclaim();
}

void count_pending(int more) {
    if (const RuntimeFunctions *const found = present())
        found->sennit_poll_pending(found->service, more);
}

int task_urgency() {
    const RuntimeFunctions *const found = present();
    return found ? found->sennit_task_urgency() : -1;
}

int send_order(std::uint64_t &key) {
    return runtime().sennit_send_order(&key);
}

sennit_wait wait_of(const Operation &operation) {
    sennit_wait wait = {operation.name,
                        static_cast<int>(operation.notice),
                        operation.peer,
                        operation.tag,
                        operation.requests,
                        operation.count,
                        group_of(operation.object),
                        operation.handles,
                        -1,
                        -1};
    if (const Operation *receives = operation.receives) {
        wait.direction = kExchange;
        wait.send_peer = wait.peer;
        wait.send_tag = wait.tag;
        wait.peer = receives->peer;
        wait.tag = receives->tag;
        wait.count = receives->count;
    }
    return wait;
}

} // namespace sennit::mpi
