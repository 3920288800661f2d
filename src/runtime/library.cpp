// SPDX-License-Identifier: Apache-2.0
// The library's own life: set-up when it is loaded, what happens around fork().
#include "base/compiler.h"
#include "base/config.h"
#include "base/fence.h"
#include "base/loaded_object.h"
#include "base/openmp_library.h"
#include "fiber/executable.h"
#include "fiber/stack.h"
#include "omp/env/affinity_format.h"
#include "omp/env/display.h"
#include "omp/env/environment.h"
#include "omp/env/icv.h"
#include "omp/env/own_share.h"
#include "omp/env/split.h"
#include "omp/kmp/threadprivate.h"
#include "omp/ompt/tool.h"
#include "omp/sync/sync.h"
#include "omp/team/own_binding.h"
#include "omp/team/team.h"
#include "program/code.h"
#include "pthread/affinity.h"
#include "pthread/libraries.h"
#include "pthread/parking.h"
#include "pthread/waits.h"
#include "runtime/hang_regions.h"
#include "runtime/names.h"
#include "runtime/pool.h"
#include "runtime/process.h"
#include "runtime/replaced.h"
#include "runtime/statistics.h"
#include "sched/order.h"
#include "sched/worker.h"
#include "task/accounts.h"
#include "task/client.h"
#include "task/observer.h"
#include "task/priorities.h"
#include "task/task.h"
#include "trace/trace.h"

#include <pthread.h>

namespace sennit {
namespace {

void before_fork() {
    kmp::threadprivate_before_fork();
    omp::affinity_format_before_fork();
    task::accounts_before_fork();
    task::priorities_before_fork(); // before a queue's
    pthread::before_fork();
    omp::parking_before_fork();
    fiber::stacks_before_fork();
    sched::Worker::before_fork();
}

void after_fork() {
    sched::Worker::after_fork();
    fiber::stacks_after_fork();
    omp::parking_after_fork();
    pthread::after_fork();
    task::priorities_after_fork();
    task::accounts_after_fork();
    omp::affinity_format_after_fork();
    kmp::threadprivate_after_fork();
}

void after_fork_in_child() {
    runtime::leave_pool_in_child();
    sched::Worker::after_fork_in_child();
    fiber::stacks_after_fork();
    omp::parking_after_fork_in_child();
    omp::team_after_fork_in_child();
    trace::after_fork_in_child();
    runtime::g_process.watch.after_fork_in_child();
    pthread::after_fork_in_child();
    pthread::once_after_fork_in_child();
    task::accounts_after_fork();
    task::priorities_after_fork();
    omp::affinity_format_after_fork();
    kmp::threadprivate_after_fork();
}

void see_loaded_objects() {
    if (fiber::need_executable())
        sched::Worker::make_stacks_executable();
}

[[maybe_unused]] bool needs_openmp(const void *code) {
    const link_map *const object = object_of(code);
    return object && DynamicSection(*object).needs(is_openmp_library);
}

// Before the constructors of the program and of libraries that use OpenMP in theirs.
[[gnu::constructor(101)]] void load() {
    if (runtime::g_process.loading)
        return;
    runtime::g_process.loading = true;
    config_setup();
    program::set_names(runtime::kNames);
    if (config().policy == Policy::automatic && program::process_has_sending_tasks())
        choose_policy(Policy::fa);
    sched::plug(task::kSchedulerClient);
    sched::order_setup();
    fence_setup();
    if (is_needed()) // a shell binds nothing
        omp::keep_to_own_share();
    sched::setup();
    task::setup(); // looks at what is loaded, before we load anything ourselves
    icv_setup();
    omp::display_as_asked();
    trace::setup();
    if (trace::on())
        omp::let_regions_differ();
    task::observer_setup();
    ompt::setup();
    runtime::statistics_setup();
    runtime::g_process.watch.start(runtime::kHangRegions, runtime::kHangNames);
    pthread::leave_alone(runtime::passes_messages); // src/mpi suspends no task inside of them
    runtime::let_flows_leave_home();
    runtime::join_pool();
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    pthread::observe_affinity(omp::note_own_binding);
    see_loaded_objects();
    runtime::stand_in_for_replaced();
    runtime::g_process.loaded = true;
}

} // namespace
} // namespace sennit

// The start code that the linker puts into every object (crti.o, _init) calls this if it is there:
// when the object is loaded, by the program's start or by dlopen, before its constructors and
// before anybody else can call what is in it. It is there for profilers: programs linked with -pg
// have their own, which comes first. Then libraries that are opened later are not seen.
// What is loaded together with us calls before load(), and before a sanitizer is ready. As a rule
// it then knows nothing of OpenMP. But the loader starts a preloaded library after all those that
// do not name it as needed: one that names a stock runtime, whose place we take, may have
// constructors with OpenMP.
extern "C" SENNIT_EXPORT __attribute__((no_sanitize("address", "thread"))) void __gmon_start__() {
    if (sennit::runtime::g_process.loaded) {
        sennit::see_loaded_objects();
        sennit::runtime::stand_in_if_replaced(__builtin_return_address(0));
    }
#if !SENNIT_ASAN && !SENNIT_TSAN
    else if (!sennit::runtime::g_process.loading &&
             sennit::needs_openmp(__builtin_return_address(0)))
        sennit::load();
#endif
}
