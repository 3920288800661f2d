/* SPDX-License-Identifier: Apache-2.0
 * simple: out={bin}/tool_checker.so compiler=gcc if=clang
 *     compile='{stock} -O2 -g {language_flags} -fPIC -shared -idirafter {clang_resources}/include'
 * A tool that knows what every program's events must look like, for OMP_TOOL_LIBRARIES (OpenMP 5.2,
 * chapter 19). On each thread the task_schedule events are a chain: each begins with the task that
 * the one before ended with. A task is created, starts, and ends once; it runs on one thread at a
 * time; what begins in it ends in it. Nothing is left over at the end.
 *
 * TOOL_CHECKER_COUNTS=name=number,... in the environment: at the end the event has come so often.
 */
#include <omp-tools.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind { initial, implicit, explicit };

struct task {
    enum kind kind;
    struct task *outer; /* of an implicit task: what the thread ran before */
    atomic_int running, started, ended, open;
    int taskwaits, groups;
};

struct region {
    atomic_int implicit_begun;
    int size;
};

struct thread {
    struct task *current;
    int begun;
};

static __thread struct thread here;

// clang-format off: it does not leave its own result alone
#define COUNTS(X)                                                                                  \
    X(thread_begin) X(thread_end) X(parallel_begin) X(parallel_end) X(implicit_begin)              \
    X(implicit_end) X(initial_begin) X(initial_end) X(task_create) X(task_start) X(task_end)       \
    X(suspend) X(yield) X(detach) X(early_fulfill) X(late_fulfill) X(cancelled) X(discarded)       \
    X(cancel) X(sync_begin) X(sync_end) X(wait_begin) X(wait_end) X(work_begin) X(work_end)        \
    X(dispatch) X(masked_begin) X(masked_end) X(acquire) X(acquired) X(released) X(nest_begin)     \
    X(nest_end) X(lock_init) X(lock_destroy) X(dependences) X(task_dependence)                     \
    X(reduction_begin) X(reduction_end) X(flush) X(error) X(control) X(teams_barrier)              \
    X(implementation_barrier)
// clang-format on
#define DEFINE(name) static atomic_long name##_count;
COUNTS(DEFINE)
#define SEEN(name) atomic_fetch_add(&name##_count, 1)

static ompt_get_task_info_t get_task_info;
static ompt_get_thread_data_t get_thread_data;
static ompt_get_parallel_info_t get_parallel_info;
static ompt_get_unique_id_t get_unique_id;

static void require(int holds, const char *format, ...) {
    va_list list;
    if (holds)
        return;
    fputs("tool: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    _exit(1);
}

static struct task *make_task(enum kind kind) {
    struct task *task = calloc(1, sizeof *task);
    require(task != NULL, "no memory");
    task->kind = kind;
    return task;
}

static void on_thread(void) {
    require(here.begun, "an event on a thread that has not begun");
}

static struct task *task_of(ompt_data_t *data) {
    require(data != NULL && data->ptr != NULL, "a task that was not created");
    return data->ptr;
}

/* Events that speak of the current task. */
static void is_current(ompt_data_t *data, const char *event) {
    on_thread();
    require(task_of(data) == here.current, "%s for another task than the current one", event);
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t *data) {
    require(type == ompt_thread_initial || type == ompt_thread_worker, "thread type %d", type);
    require(!here.begun, "a thread begins twice");
    require(data == get_thread_data(), "another thread's data");
    here.begun = 1;
    data->value = get_unique_id();
    SEEN(thread_begin);
}

static void on_thread_end(ompt_data_t *data) {
    on_thread();
    require(data->value != 0, "the thread's data is lost");
    here.begun = 0;
    SEEN(thread_end);
}

/* Threads that do not wait for their region would begin meanwhile. All others have initial tasks, a
 * moment after they have begun. */
static int threads_wait_for_regions(void) {
    for (int tries = 0; tries < 200; ++tries) {
        usleep(10000);
        const long threads = thread_begin_count;
        if (parallel_begin_count > 0 || threads <= initial_begin_count)
            return 1;
    }
    return 0;
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *data,
                              unsigned requested, int flags, const void *code) {
    struct region *region = calloc(1, sizeof *region);
    is_current(task, "parallel_begin");
    require(data->ptr == NULL, "a region begins with data");
    require(requested > 0, "no threads requested");
    require(frame->enter_frame.ptr != NULL, "parallel_begin outside of the runtime");
    require(code != NULL, "parallel_begin without its code");
    require(((flags & ompt_parallel_team) != 0) != ((flags & ompt_parallel_league) != 0),
            "parallel flags %x", flags);
    require(parallel_begin_count > 0 || threads_wait_for_regions(),
            "a thread begins before there is a region for it");
    data->ptr = region;
    SEEN(parallel_begin);
}

static void on_parallel_end(ompt_data_t *data, ompt_data_t *task, int flags, const void *code) {
    struct region *region = data->ptr;
    (void)flags, (void)code;
    is_current(task, "parallel_end");
    require(region != NULL, "the region's data is lost");
    require(region->size == 0 || region->implicit_begun == region->size,
            "%d of %d implicit tasks have begun", region->implicit_begun, region->size);
    free(region);
    SEEN(parallel_end);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                             ompt_data_t *data, unsigned size, unsigned index, int flags) {
    const enum kind kind = (flags & ompt_task_initial) ? initial : implicit;
    on_thread();
    if (endpoint == ompt_scope_begin) {
        struct task *task = make_task(kind);
        require(data->ptr == NULL, "an implicit task begins with data");
        require(kind == initial || index < size, "thread %u of %u", index, size);
        data->ptr = task;
        task->outer = here.current;
        here.current = task;
        if (kind == implicit) {
            struct region *region = parallel->ptr;
            ompt_data_t *asked = NULL;
            int threads = 0;
            require(region != NULL, "an implicit task of no region");
            require(get_parallel_info(0, &asked, &threads) == 2 && asked == parallel &&
                        threads == (int)size,
                    "get_parallel_info tells of another region");
            region->size = (int)size;
            atomic_fetch_add(&region->implicit_begun, 1);
            SEEN(implicit_begin);
        } else {
            SEEN(initial_begin);
        }
        return;
    }
    is_current(data, "the end of an implicit task");
    require(here.current->open == 0, "an implicit task ends with %d constructs open",
            here.current->open);
    require(parallel == NULL, "the end of an implicit task has a region");
    here.current = here.current->outer;
    free(data->ptr);
    data->ptr = NULL;
    if (kind == implicit)
        SEEN(implicit_end);
    else
        SEEN(initial_end);
}

static void on_task_create(ompt_data_t *parent, const ompt_frame_t *frame, ompt_data_t *data,
                           int flags, int has_dependences, const void *code) {
    (void)has_dependences, (void)code;
    is_current(parent, "task_create");
    require(data->ptr == NULL, "a task begins with data");
    require(frame != NULL, "task_create without a frame");
    data->ptr = make_task(explicit);
    if (flags & ompt_task_taskwait)
        return;
    require((flags & ompt_task_explicit) != 0, "task flags %x", flags);
    require(code != NULL, "task_create without its code");
    SEEN(task_create);
}

static void starts(struct task *task) {
    if (task->kind != explicit)
        return;
    require(atomic_exchange(&task->running, 1) == 0, "a task runs on two threads");
    require(task->ended == 0, "a task goes on after its end");
    if (task->started++ == 0)
        SEEN(task_start);
}

static void stops(struct task *task, ompt_task_status_t status) {
    const int ends =
        status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
    if (status == ompt_task_yield)
        SEEN(yield);
    if (task->kind != explicit) {
        require(!ends, "an implicit task ends by task_schedule");
        return;
    }
    require(atomic_exchange(&task->running, 0) == 1, "a task stops that does not run");
    if (!ends) {
        SEEN(suspend);
        return;
    }
    require(task->open == 0 || status == ompt_task_cancel, "a task ends with %d constructs open",
            task->open);
    require(task->ended++ == 0, "a task ends twice");
    SEEN(task_end);
    if (status == ompt_task_cancel)
        SEEN(cancelled);
    if (status == ompt_task_detach)
        SEEN(detach);
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next) {
    struct task *from = task_of(prior);
    if (status == ompt_taskwait_complete) {
        free(from);
        return;
    }
    if (status == ompt_task_early_fulfill) {
        SEEN(early_fulfill);
        return;
    }
    if (status == ompt_task_late_fulfill) {
        require(from->ended == 1, "late_fulfill of a task that has not ended");
        SEEN(late_fulfill);
        return;
    }
    is_current(prior, "task_schedule");
    require(next != NULL, "nobody is next");
    stops(from, status);
    here.current = task_of(next);
    starts(here.current);
    if (status == ompt_task_complete || status == ompt_task_cancel)
        free(from->kind == explicit ? from : NULL);
}

static void on_sync(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                    ompt_data_t *task, const void *code) {
    (void)parallel, (void)code;
    is_current(task, "sync_region");
    require(kind >= ompt_sync_region_barrier_explicit && kind <= ompt_sync_region_barrier_teams,
            "sync region %d", kind);
    here.current->open += endpoint == ompt_scope_begin ? 1 : -1;
    require(here.current->open >= 0, "a sync region ends that has not begun");
    if (endpoint == ompt_scope_begin)
        SEEN(sync_begin);
    else
        SEEN(sync_end);
    if (endpoint == ompt_scope_begin && kind == ompt_sync_region_barrier_teams)
        SEEN(teams_barrier);
    if (endpoint == ompt_scope_begin && kind == ompt_sync_region_barrier_implementation)
        SEEN(implementation_barrier);
}

static void on_sync_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                         ompt_data_t *parallel, ompt_data_t *task, const void *code) {
    (void)kind, (void)parallel, (void)code;
    is_current(task, "sync_region_wait");
    if (endpoint == ompt_scope_begin)
        SEEN(wait_begin);
    else
        SEEN(wait_end);
}

static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                         ompt_data_t *parallel, ompt_data_t *task, const void *code) {
    (void)parallel, (void)code;
    is_current(task, "reduction");
    require(kind == ompt_sync_region_reduction, "reduction of kind %d", kind);
    if (endpoint == ompt_scope_begin)
        SEEN(reduction_begin);
    else
        SEEN(reduction_end);
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                    ompt_data_t *task, uint64_t count, const void *code) {
    (void)kind, (void)parallel, (void)count;
    is_current(task, "work");
    require(code != NULL || endpoint == ompt_scope_end, "work without its code");
    if (endpoint == ompt_scope_begin)
        SEEN(work_begin);
    else
        SEEN(work_end);
}

static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind,
                        ompt_data_t instance) {
    (void)parallel;
    is_current(task, "dispatch");
    require(instance.ptr != NULL, "dispatch of nothing");
    if (kind != ompt_dispatch_section)
        require(((ompt_dispatch_chunk_t *)instance.ptr)->iterations > 0, "an empty chunk");
    SEEN(dispatch);
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
                      const void *code) {
    (void)parallel, (void)code;
    is_current(task, "masked");
    if (endpoint == ompt_scope_begin)
        SEEN(masked_begin);
    else
        SEEN(masked_end);
}

static void on_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait_id,
                       const void *code) {
    (void)kind, (void)hint, (void)impl;
    on_thread();
    require(wait_id != 0 && code != NULL, "mutex_acquire of nothing");
    SEEN(acquire);
}

static void on_acquired(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *code) {
    (void)kind, (void)wait_id, (void)code;
    on_thread();
    SEEN(acquired);
}

static void on_released(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *code) {
    (void)kind, (void)wait_id, (void)code;
    on_thread();
    SEEN(released);
}

static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait_id, const void *code) {
    (void)wait_id, (void)code;
    on_thread();
    if (endpoint == ompt_scope_begin)
        SEEN(nest_begin);
    else
        SEEN(nest_end);
}

static void on_lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t wait_id,
                         const void *code) {
    (void)kind, (void)hint, (void)impl, (void)wait_id, (void)code;
    SEEN(lock_init);
}

static void on_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t wait_id, const void *code) {
    (void)kind, (void)wait_id, (void)code;
    SEEN(lock_destroy);
}

static void on_dependences(ompt_data_t *task, const ompt_dependence_t *list, int count) {
    task_of(task);
    require(list != NULL && count > 0, "no dependences");
    SEEN(dependences);
}

static void on_task_dependence(ompt_data_t *first, ompt_data_t *second) {
    require(first != second, "a task depends on itself");
    SEEN(task_dependence);
}

static void on_flush(ompt_data_t *thread, const void *code) {
    (void)code;
    require(thread == get_thread_data(), "another thread's data");
    SEEN(flush);
}

static void on_cancel(ompt_data_t *task, int flags, const void *code) {
    (void)code;
    task_of(task);
    if (flags & ompt_cancel_discarded_task)
        SEEN(discarded);
    else
        SEEN(cancel);
}

static void on_error(ompt_severity_t severity, const char *message, size_t length,
                     const void *code) {
    (void)severity, (void)message, (void)length, (void)code;
    SEEN(error);
}

/* The program asks for a look at its tasks, up to the initial one: where they left the runtime and
 * came back, each frame below the one before. */
static int on_control_tool(uint64_t command, uint64_t modifier, void *argument, const void *code) {
    int level = 0, flags = 0, thread = -1;
    ompt_data_t *data = NULL, *parallel = NULL;
    ompt_frame_t *frame = NULL;
    (void)command, (void)modifier, (void)argument;
    require(code != NULL, "control_tool without its code");
    for (; get_task_info(level, &flags, &data, &frame, &parallel, &thread) == 2; ++level) {
        struct task *task = task_of(data);
        const int is_initial = (flags & ompt_task_initial) != 0;
        require(level > 0 || task == here.current, "level 0 is not the current task");
        require(task->kind == (is_initial                     ? initial
                               : (flags & ompt_task_implicit) ? implicit
                                                              : explicit),
                "flags %x of a task of kind %d", flags, task->kind);
        require(parallel != NULL && thread >= 0, "no region or thread");
        require(frame->enter_frame.ptr != NULL, "level %d is not in the runtime", level);
        require(is_initial == (frame->exit_frame.ptr == NULL), "level %d: no exit frame", level);
        require(is_initial || frame->enter_frame.ptr < frame->exit_frame.ptr,
                "level %d: it entered above where it left", level);
    }
    require(level > 0 && (flags & ompt_task_initial), "%d levels without an initial task", level);
    SEEN(control);
    return level;
}

static int start(ompt_function_lookup_t lookup, int device, ompt_data_t *tool) {
    const ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
    (void)device, (void)tool;
    get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
    get_thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
    get_parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
    get_unique_id = (ompt_get_unique_id_t)lookup("ompt_get_unique_id");
    require(lookup("ompt_no_such_function") == NULL, "the lookup knows too much");
#define SET(event, function)                                                                       \
    require(set_callback(ompt_callback_##event, (ompt_callback_t)(function)) == ompt_set_always,   \
            "no callback for " #event)
    SET(thread_begin, on_thread_begin);
    SET(thread_end, on_thread_end);
    SET(parallel_begin, on_parallel_begin);
    SET(parallel_end, on_parallel_end);
    SET(implicit_task, on_implicit_task);
    SET(task_create, on_task_create);
    SET(task_schedule, on_task_schedule);
    SET(sync_region, on_sync);
    SET(sync_region_wait, on_sync_wait);
    SET(reduction, on_reduction);
    SET(work, on_work);
    SET(dispatch, on_dispatch);
    SET(masked, on_masked);
    SET(mutex_acquire, on_acquire);
    SET(mutex_acquired, on_acquired);
    SET(mutex_released, on_released);
    SET(nest_lock, on_nest_lock);
    SET(lock_init, on_lock_init);
    SET(lock_destroy, on_lock_destroy);
    SET(dependences, on_dependences);
    SET(task_dependence, on_task_dependence);
    SET(flush, on_flush);
    SET(cancel, on_cancel);
    SET(error, on_error);
    SET(control_tool, on_control_tool);
    return 1;
}

static void pairs(const char *what, long begun, long ended) {
    require(begun == ended, "%ld begins and %ld ends of %s", begun, ended, what);
}

static void check_counts(void) {
    const struct {
        const char *name;
        atomic_long *count;
    } counts[] = {
#define ROW(name) {#name, &name##_count},
        COUNTS(ROW)};
    const char *wanted = getenv("TOOL_CHECKER_COUNTS");
    char *copy = wanted ? strdup(wanted) : NULL, *rest = NULL;
    for (char *item = copy ? strtok_r(copy, ",", &rest) : NULL; item;
         item = strtok_r(NULL, ",", &rest)) {
        char *number = strchr(item, '=');
        size_t i = 0;
        require(number != NULL, "TOOL_CHECKER_COUNTS: %s", item);
        *number++ = '\0';
        while (i < sizeof counts / sizeof *counts && strcmp(counts[i].name, item) != 0)
            ++i;
        require(i < sizeof counts / sizeof *counts, "TOOL_CHECKER_COUNTS: no event %s", item);
        require(*counts[i].count == atol(number), "%ld events %s, not %s", (long)*counts[i].count,
                item, number);
    }
    free(copy);
}

static void finish(ompt_data_t *tool) {
    (void)tool;
    pairs("threads", thread_begin_count, thread_end_count);
    pairs("regions", parallel_begin_count, parallel_end_count);
    pairs("implicit tasks", implicit_begin_count, implicit_end_count);
    pairs("initial tasks", initial_begin_count, initial_end_count);
    pairs("created tasks", task_create_count, task_start_count);
    pairs("tasks", task_start_count, task_end_count);
    pairs("sync regions", sync_begin_count, sync_end_count);
    pairs("waits", wait_begin_count, wait_end_count);
    pairs("masked regions", masked_begin_count, masked_end_count);
    pairs("reductions", reduction_begin_count, reduction_end_count);
    pairs("locks held", acquired_count, released_count);
    pairs("nested locks held", nest_begin_count, nest_end_count);
    if (cancel_count == 0)
        pairs("worksharing regions", work_begin_count, work_end_count);
    check_counts();
    puts("tool: every event is in order");
    fflush(stdout);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned omp_version, const char *runtime_version) {
    static ompt_start_tool_result_t result = {start, finish, {0}};
    require(omp_version >= 201811 && runtime_version[0] != '\0', "which runtime is this?");
    return &result;
}
