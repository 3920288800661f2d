// SPDX-License-Identifier: Apache-2.0
// The entry points that a tool finds through its lookup function (OpenMP 5.2, 19.6.1). A tool may
// call them in a signal handler: they take no locks and allocate nothing. On a thread that has not
// begun they know nothing.
#include "openmp/env/affinity.h"
#include "openmp/ompt/tool.h"
#include "openmp/team/team.h"
#include "tasks/sched/processors.h"

#include <cstring>
#include <sched.h>

namespace sennit::ompt {
namespace {

struct Named {
    int value;
    const char *name;
};

constexpr Named kStates[] = {
    {kStateUndefined, "ompt_state_undefined"},
    {kStateWorkSerial, "ompt_state_work_serial"},
    {kStateWorkParallel, "ompt_state_work_parallel"},
    {kStateWorkReduction, "ompt_state_work_reduction"},
    {kStateBarrierParallel, "ompt_state_wait_barrier_implicit_parallel"},
    {kStateBarrierWorkshare, "ompt_state_wait_barrier_implicit_workshare"},
    {kStateBarrierExplicit, "ompt_state_wait_barrier_explicit"},
    {kStateBarrierImplementation, "ompt_state_wait_barrier_implementation"},
    {kStateBarrierTeams, "ompt_state_wait_barrier_teams"},
    {kStateTaskwait, "ompt_state_wait_taskwait"},
    {kStateTaskgroup, "ompt_state_wait_taskgroup"},
    {kStateLock, "ompt_state_wait_lock"},
    {kStateCritical, "ompt_state_wait_critical"},
    {kStateAtomic, "ompt_state_wait_atomic"},
    {kStateOrdered, "ompt_state_wait_ordered"},
    {kStateIdle, "ompt_state_idle"},
    {kStateOverhead, "ompt_state_overhead"},
};

// One kind of lock serves all: a word, behind which tasks are parked in the order in which they
// came.
constexpr Named kMutexImpls[] = {{0, "sennit_mutex_none"}, {1, "sennit_mutex_parking"}};

template <std::size_t kCount>
int next_of(const Named (&list)[kCount], int current, int *next, const char **name) {
    for (std::size_t i = 0; i + 1 < kCount; ++i) {
        if (list[i].value != current)
            continue;
        *next = list[i + 1].value;
        *name = list[i + 1].name;
        return 1;
    }
    return 0;
}

int enumerate_states(int current, int *next, const char **name) {
    return next_of(kStates, current, next, name);
}
int enumerate_mutex_impls(int current, int *next, const char **name) {
    return next_of(kMutexImpls, current, next, name);
}

int set_callback(int event, AnyFunction function) {
    switch (event) {
#define SENNIT_OMPT_SET(name, number, ...)                                                         \
    case number:                                                                                   \
        g_tool.name.set(function);                                                                 \
        return kSetAlways;
        SENNIT_OMPT_EVENTS(SENNIT_OMPT_SET)
#undef SENNIT_OMPT_SET
    default: // of devices, which there are none of
        return kSetNever;
    }
}

int get_callback(int event, AnyFunction *function) {
    *function = nullptr;
    switch (event) {
#define SENNIT_OMPT_GET(name, number, ...)                                                         \
    case number:                                                                                   \
        *function = g_tool.name.get();                                                             \
        break;
        SENNIT_OMPT_EVENTS(SENNIT_OMPT_GET)
#undef SENNIT_OMPT_GET
    default:
        break;
    }
    return *function != nullptr;
}

// The worker whose thread is an OpenMP thread, and a tool attached; else null.
sched::Worker *worker_here() {
    sched::Worker *worker = sched::Worker::self();
    return t_thread.begun && worker && worker->slot ? worker : nullptr;
}

int get_state(std::uint64_t *wait_id) {
    if (wait_id)
        *wait_id = 0;
    sched::Worker *worker = worker_here();
    if (!worker)
        return t_thread.begun ? kStateIdle : kStateWorkSerial;
    const Task *task = t_thread.current;
    if (!task)
        return kStateIdle;
    if (task->tool->state != 0) {
        if (wait_id)
            *wait_id = task->tool->wait_id;
        return task->tool->state;
    }
    return omp::member_of(*worker).team->level > 0 ? kStateWorkParallel : kStateWorkSerial;
}

Data *get_thread_data() {
    return t_thread.begun ? &t_thread.data : nullptr;
}

omp::Team *team_of(const Task &task) {
    return static_cast<omp::Team *>(task.team);
}
bool is_told(const omp::Team &team) {
    return team.kind != omp::Team::Kind::league;
}

int get_parallel_info(int level, Data **data, int *size) {
    sched::Worker *worker = worker_here();
    if (!worker || level < 0)
        return 0;
    omp::Team *team = omp::member_of(*worker).team;
    for (; team && level > 0; --level)
        do
            team = team->outer;
        while (team && !is_told(*team));
    if (!team)
        return 0;
    if (data)
        *data = &team->tool.data;
    if (size)
        *size = team->size;
    return 2;
}

// The task below `task`, and the member in whose context that runs.
Task *ancestor_of(const Task &task, omp::Member *&member) {
    if (task.is(Task::kImplicit | Task::kInitial)) {
        const omp::Team *team = team_of(task);
        while (team->outer && !is_told(*team->outer))
            team = team->outer;
        member = team->encountering;
        return team->encountering_task;
    }
    return task.tool->below ? task.tool->below : &member->implicit;
}

int get_task_info(int level, int *flags, Data **data, Frame **frame, Data **parallel,
                  int *thread_num) {
    sched::Worker *worker = worker_here();
    if (!worker || level < 0)
        return 0;
    omp::Member *member = &omp::member_of(*worker);
    Task *task = t_thread.current ? t_thread.current : &member->implicit;
    for (; task && level > 0; --level)
        task = ancestor_of(*task, member);
    if (!task)
        return 0;
    omp::Team &team = *team_of(*task);
    if (flags)
        *flags = flags_of(*task);
    if (data)
        *data = data_of(*task->tool);
    if (frame)
        *frame = frame_of(*task->tool);
    if (parallel)
        *parallel = &team.tool.data;
    if (thread_num)
        *thread_num = member ? member->index : 0;
    return 2;
}

// The only block: the arguments and private copies, behind the task's descriptor.
int get_task_memory(void **address, std::size_t *size, int block) {
    Task *task = worker_here() ? t_thread.current : nullptr;
    const bool has = task && block == 0 && task->is_explicit() && task->payload_size > 0;
    *address = has ? task->payload() : nullptr;
    *size = has ? task->payload_size : 0;
    return 0;
}

int get_num_procs() {
    return sched::processors();
}

int get_num_places() {
    return omp::place_list().count();
}

int get_place_proc_ids(int place, int room, int *ids) {
    const omp::PlaceList &places = omp::place_list();
    if (place < 0 || place >= places.count())
        return 0;
    const omp::CpuSet &cpus = places[place];
    int count = 0;
    for (int cpu = cpus.next(-1); cpu >= 0; cpu = cpus.next(cpu), ++count)
        if (count < room)
            ids[count] = cpu;
    return count;
}

int get_place_num() {
    sched::Worker *worker = worker_here();
    return worker ? omp::member_of(*worker).placement.place : -1;
}

int get_partition_place_nums(int room, int *places) {
    sched::Worker *worker = worker_here();
    if (!worker)
        return 0;
    const omp::Placement &placement = omp::member_of(*worker).placement;
    for (int i = 0; i < placement.count && i < room; ++i)
        places[i] = placement.first + i;
    return placement.count;
}

int get_proc_id() {
    return worker_here() ? sched_getcpu() : -1;
}

int get_num_devices() {
    return 1; // the host
}

int get_target_info(std::uint64_t *, std::uint64_t *, std::uint64_t *) {
    return 0; // no thread is in a target region of a device
}

// Unique in the process: a thread takes a range of numbers at a time.
std::uint64_t get_unique_id() {
    constexpr std::uint64_t kRange = 1 << 16;
    static std::atomic<std::uint64_t> g_next{1};
    static SENNIT_TLS std::uint64_t t_next = 0;
    static SENNIT_TLS std::uint64_t t_end = 0;
    if (t_next == t_end) {
        t_next = g_next.fetch_add(kRange, std::memory_order_relaxed);
        t_end = t_next + kRange;
    }
    return t_next++;
}

void finalize_tool() {
    finalize();
}

struct EntryPoint {
    const char *name;
    AnyFunction function;
};

template <class Function>
AnyFunction any(Function *function) {
    return reinterpret_cast<AnyFunction>(function);
}

} // namespace

AnyFunction lookup(const char *name) {
    static const EntryPoint kEntryPoints[] = {
#define SENNIT_OMPT_ENTRY(name) {"ompt_" #name, any(name)}
        SENNIT_OMPT_ENTRY(enumerate_states), SENNIT_OMPT_ENTRY(enumerate_mutex_impls),
        SENNIT_OMPT_ENTRY(set_callback),     SENNIT_OMPT_ENTRY(get_callback),
        SENNIT_OMPT_ENTRY(get_state),        SENNIT_OMPT_ENTRY(get_parallel_info),
        SENNIT_OMPT_ENTRY(get_task_info),    SENNIT_OMPT_ENTRY(get_task_memory),
        SENNIT_OMPT_ENTRY(get_thread_data),  SENNIT_OMPT_ENTRY(get_unique_id),
        SENNIT_OMPT_ENTRY(finalize_tool),    SENNIT_OMPT_ENTRY(get_num_procs),
        SENNIT_OMPT_ENTRY(get_num_places),   SENNIT_OMPT_ENTRY(get_place_proc_ids),
        SENNIT_OMPT_ENTRY(get_place_num),    SENNIT_OMPT_ENTRY(get_partition_place_nums),
        SENNIT_OMPT_ENTRY(get_proc_id),      SENNIT_OMPT_ENTRY(get_target_info),
        SENNIT_OMPT_ENTRY(get_num_devices),
#undef SENNIT_OMPT_ENTRY
    };
    for (const EntryPoint &entry : kEntryPoints)
        if (std::strcmp(entry.name, name) == 0)
            return entry.function;
    return nullptr;
}

} // namespace sennit::ompt
