// SPDX-License-Identifier: Apache-2.0
// task, taskwait, taskgroup, detach. The compiler's kmp_task_t is the payload of our Task; the
// shareds (addresses of shared variables) stand behind it.
#include "openmp/kmp/tasks.h"

#include "openmp/sync/regions.h"
#include "openmp/team/free_agents.h"
#include "openmp/team/league.h"
#include "openmp/team/region_events.h"

#include <cstddef>

using namespace sennit;
using kmp::Gtid;
using kmp::Ident;
using kmp::KmpTask;

namespace sennit::kmp {

// What follows the body. Of an untied task, this is after its last part.
void end_body(Task &task, KmpTask &self) {
    if (task.abi_flags & kInTarget)
        omp::end_target(*sched::Worker::self());
    if (task.abi_flags & kDestructorsThunk) // the body may have ended on another thread
        self.data1.destructors(sched::Worker::self()->id(), &self);
}

} // namespace sennit::kmp

namespace {

// kmp_depend_info_t
struct DependInfo {
    std::intptr_t address;
    std::size_t length;
    std::uint8_t flags;
};

// Returns where the next one goes. A pointer that is null is no dependence, as with libomp.
[[gnu::always_inline]] inline task::Depend *add(task::Depend *at, const DependInfo &info) {
    task::DependKind kind;
    switch (info.flags) {
    case 0x01:
        kind = task::DependKind::in;
        break;
    case 0x04:
        kind = task::DependKind::mutexinoutset;
        break;
    case 0x08:
        kind = task::DependKind::inoutset;
        break;
    default:
        kind = task::DependKind::out; // out, inout
        if ((info.flags & 0x80) || info.address == -1) {
            *at = task::all_memory();
            return at + 1;
        }
    }
    if (SENNIT_UNLIKELY(info.address == 0))
        return at;
    *at = {reinterpret_cast<void *>(info.address), kind}; // NOLINT(performance-no-int-to-ptr)
    return at + 1;
}

// Two lists; the second is of items that the compiler knows not to overlap.
class Dependences {
  public:
    Dependences(std::int32_t count, const DependInfo *list, std::int32_t more,
                const DependInfo *rest)
        : count_(count), more_(more), list_(list), rest_(rest) {}
    int size() const { return count_ + more_; }
    int fill(task::Depend *into) const {
        task::Depend *at = into;
        for (int i = 0; i < count_; ++i)
            at = add(at, list_[i]);
        for (int i = 0; i < more_; ++i)
            at = add(at, rest_[i]);
        return static_cast<int>(at - into);
    }

  private:
    std::int32_t count_;
    std::int32_t more_;
    const DependInfo *list_;
    const DependInfo *rest_;
};

// `taskwait depend`, or what stands before an undeferred task.
void wait_depends(ompt::Site site, const Dependences &given) {
    SENNIT_READ_DEPENDENCES(depends, count, given)
    omp::taskwait_depend(site, task::wait_depends_of_next, depends, count);
}

std::uint32_t translate(std::uint32_t flags) {
    static_assert(Task::kUntied == kmp::kTied << 2 && Task::kFinal == kmp::kFinal << 2);
    return ((flags ^ kmp::kTied) & (kmp::kTied | kmp::kFinal)) << 2;
}

// A tied task that knows no thread is as an untied one where that may roam; to tools it is tied.
SENNIT_COLD std::uint32_t seldom_given(std::uint32_t flags) {
    std::uint32_t more = 0;
    if (flags & kmp::kKnowsNoThread && config().untied == UntiedTasks::anywhere && !ompt::on())
        more |= Task::kUntied;
    if (flags & kmp::kFreeAgentEligible && omp::have_free_agents())
        more |= Task::kOffered;
    return more;
}

// Of a thread that has made a task: it is no stranger.
sched::Worker &maker() {
    return *sched::Worker::self();
}

Taskgroup *new_group(sched::Worker &worker) {
    return new (worker.heap.allocate(sizeof(Taskgroup))) Taskgroup;
}

} // namespace

KMP_API KmpTask *__kmpc_omp_task_alloc(Ident *, Gtid, std::int32_t flags, std::size_t size,
                                       std::size_t shareds_size, kmp::TaskEntry entry) {
    sched::Worker &worker = omp::here();
    const std::size_t shareds_at = (size + 15) & ~std::size_t{15};
    task::Spec spec;
    spec.entry = reinterpret_cast<void *>(entry);
    spec.flags = translate(static_cast<std::uint32_t>(flags)) | Task::kNests;
    spec.room = shareds_at + shareds_size;
    if (SENNIT_UNLIKELY(flags & (kmp::kFreeAgentEligible | kmp::kKnowsNoThread)))
        spec.flags |= seldom_given(static_cast<std::uint32_t>(flags));
    Task &task = kmp::make_task(worker, spec, static_cast<std::uint32_t>(flags));
    auto *made = static_cast<KmpTask *>(task.payload());
    made->shareds = shareds_size ? reinterpret_cast<char *>(made) + shareds_at : nullptr;
    made->routine = entry;
    made->part = 0;
    if (SENNIT_UNLIKELY(flags & kmp::kProxy))
        task::attach_event(task);
    return made;
}

// The task around a `target nowait` region: with no device, a task like any other.
KMP_API KmpTask *__kmpc_omp_target_task_alloc(Ident *location, Gtid gtid, std::int32_t flags,
                                              std::size_t size, std::size_t shareds_size,
                                              kmp::TaskEntry entry, std::int64_t) {
    return __kmpc_omp_task_alloc(location, gtid, flags, size, shareds_size, entry);
}

KMP_API std::int32_t __kmpc_omp_task(Ident *, Gtid gtid, KmpTask *kmp_task) {
    sched::Worker &worker = maker();
    Task &task = *Task::of_payload(kmp_task);
    if (SENNIT_UNLIKELY(worker.task == &task)) {
        // The running part of an untied task asks for the next part.
        if (task.is(Task::kUndeferred))
            return kmp_task->routine(gtid, kmp_task);
        task::requeue(task);
        return 0;
    }
    kmp::read_priority(task);
    omp::start_task(worker, SENNIT_SITE, task, {});
    return 0;
}

KMP_API std::int32_t __kmpc_omp_task_parts(Ident *location, Gtid gtid, KmpTask *task) {
    return __kmpc_omp_task(location, gtid, task);
}

KMP_API std::int32_t __kmpc_omp_task_with_deps(Ident *, Gtid, KmpTask *kmp_task, std::int32_t count,
                                               const DependInfo *list, std::int32_t more,
                                               const DependInfo *rest) {
    const Dependences given(count, list, more, rest);
    SENNIT_READ_DEPENDENCES(depends, total, given)
    Task &task = *Task::of_payload(kmp_task);
    kmp::read_priority(task);
    omp::start_task(maker(), SENNIT_SITE, task, {.depends = depends, .count = total});
    return 0;
}

KMP_API void __kmpc_omp_wait_deps(Ident *, Gtid, std::int32_t count, const DependInfo *list,
                                  std::int32_t more, const DependInfo *rest) {
    wait_depends(SENNIT_SITE, Dependences(count, list, more, rest));
}

KMP_API void __kmpc_omp_taskwait_deps_51(Ident *, Gtid, std::int32_t count, const DependInfo *list,
                                         std::int32_t more, const DependInfo *rest, std::int32_t) {
    wait_depends(SENNIT_SITE, Dependences(count, list, more, rest));
}

// The compiler calls the body itself between these two.
KMP_API void __kmpc_omp_task_begin_if0(Ident *, Gtid, KmpTask *kmp_task) {
    omp::undeferred_begin(maker(), SENNIT_SITE, *Task::of_payload(kmp_task));
}

KMP_API void __kmpc_omp_task_complete_if0(Ident *, Gtid, KmpTask *kmp_task) {
    Task &task = *Task::of_payload(kmp_task);
    kmp::end_body(task, *kmp_task);
    omp::undeferred_end(maker(), SENNIT_SITE, task);
}

KMP_API std::int32_t __kmpc_omp_taskwait(Ident *, Gtid) {
    omp::taskwait(SENNIT_SITE);
    return 0;
}

KMP_API std::int32_t __kmpc_omp_taskyield(Ident *, Gtid, std::int32_t) {
    omp::taskyield(SENNIT_SITE);
    return 0;
}

KMP_API void __kmpc_taskgroup(Ident *, Gtid) {
    sched::Worker &worker = omp::here();
    Taskgroup &group = *new_group(worker);
    omp::taskgroup_begin(worker, SENNIT_SITE, group);
}

KMP_API void __kmpc_end_taskgroup(Ident *, Gtid) {
    sched::Worker &worker = omp::here();
    Taskgroup *group = worker.task->taskgroup;
    omp::taskgroup_end(worker, SENNIT_SITE);
    if (group->reductions)
        omp::reductions_end(worker, group->reductions);
    worker.heap.release(group);
}

// A taskgraph, as LLVM's runtime has it since version 17: true says that its tasks are to be
// created, false that they were replayed from a record. Here they are created each time. That the
// same graph comes again is seen by its dependences (tasks/task/repeats.h), with or without such a
// construct.
KMP_API std::int32_t __kmpc_start_record_task(Ident *location, Gtid gtid, std::int32_t /*flags*/,
                                              std::int32_t /*graph*/) {
    __kmpc_taskgroup(location, gtid);
    return 1;
}

KMP_API void __kmpc_end_record_task(Ident *location, Gtid gtid, std::int32_t /*flags*/,
                                    std::int32_t /*graph*/) {
    __kmpc_end_taskgroup(location, gtid);
}

// The handle is the task itself; see omp_fulfill_event.
KMP_API void *__kmpc_task_allow_completion_event(Ident *, Gtid, KmpTask *kmp_task) {
    Task &task = *Task::of_payload(kmp_task);
    task::attach_event(task);
    return &task;
}

// Of a proxy task: what it stands for has ended. The second on any thread.
KMP_API void __kmpc_proxy_task_completed(Gtid, KmpTask *kmp_task) {
    task::fulfil_detach_event(*Task::of_payload(kmp_task));
}
KMP_API void __kmpc_proxy_task_completed_ooo(KmpTask *kmp_task) {
    task::fulfil_detach_event(*Task::of_payload(kmp_task));
}

// Numbers of tasks that exist.
KMP_API std::uint64_t __kmpc_get_taskid(void) {
    return reinterpret_cast<std::uintptr_t>(omp::here().task);
}
KMP_API std::uint64_t __kmpc_get_parent_taskid(void) {
    return reinterpret_cast<std::uintptr_t>(omp::here().task->parent);
}

KMP_API std::int32_t __kmpc_omp_reg_task_with_affinity(Ident *, Gtid, KmpTask *, std::int32_t,
                                                       void *) {
    return 0; // a hint
}

// For tools that look at the task graph: kmp_depnode_list_t is {node, next}, as our edges are. Null
// for a task without dependences, or one that has completed.
KMP_API const DependEdge *__kmpc_task_get_successors(KmpTask *kmp_task) {
    const DependNode *node = Task::of_payload(kmp_task)->depend;
    const DependEdge *first = node ? node->successors.load(std::memory_order_acquire) : nullptr;
    return first == DependNode::closed() ? nullptr : first;
}
KMP_API const DependNode *__kmpc_task_get_depnode(KmpTask *kmp_task) {
    return Task::of_payload(kmp_task)->depend;
}

// ---- task reductions ------------------------------------------------------------------------

namespace {

// kmp_taskred_input_t
struct ReductionInput {
    void *shared;
    void *original;
    std::size_t size;
    void *init;
    void *finish;
    void *combine;
    std::uint32_t flags;
};

TaskReductions *enclosing_reductions(const Taskgroup *group) {
    for (; group; group = group->outer)
        if (group->reductions)
            return group->reductions;
    return nullptr;
}

// kmp_task_red_input_t, of older compilers: `init` takes the private copy alone.
struct OldReductionInput {
    void *shared;
    std::size_t size;
    void *init;
    void *finish;
    void *combine;
    std::uint32_t flags;
};

void *original_of(const ReductionInput &from) {
    return from.original ? from.original : from.shared;
}
void *original_of(const OldReductionInput &from) {
    return from.shared;
}

template <class Input>
void *begin_reductions(int count, const Input *inputs) {
    sched::Worker &worker = omp::here();
    Taskgroup &group = *worker.task->taskgroup;
    auto *items = static_cast<TaskReductionItem *>(
        alloca(static_cast<std::size_t>(count) * sizeof(TaskReductionItem)));
    for (int i = 0; i < count; ++i) {
        const Input &from = inputs[i];
        items[i].shared = from.shared;
        items[i].size = from.size;
        items[i].original = original_of(from);
        items[i].init = reinterpret_cast<void (*)(void *, void *)>(from.init);
        items[i].combine = reinterpret_cast<void (*)(void *, void *)>(from.combine);
        items[i].finish = reinterpret_cast<void (*)(void *)>(from.finish);
    }
    TaskReductions *outer = enclosing_reductions(&group);
    group.reductions = omp::reductions_begin(worker, items, count, outer);
    return &group;
}

template <typename Input>
void *begin_construct_reductions(Ident *location, Gtid gtid, int count, Input *inputs) {
    __kmpc_taskgroup(location, gtid);
    omp::here().task->taskgroup->of_construct = true;
    return begin_reductions(count, inputs);
}

} // namespace

KMP_API void *__kmpc_taskred_init(Gtid, int count, ReductionInput *inputs) {
    return begin_reductions(count, inputs);
}

KMP_API void *__kmpc_task_reduction_init(Gtid, int count, OldReductionInput *inputs) {
    return begin_reductions(count, inputs);
}

// reduction(task, ...) on parallel or worksharing constructs: each thread reduces the tasks that it
// created into its own copy; the construct's ordinary reduction then combines the threads'.
KMP_API void *__kmpc_taskred_modifier_init(Ident *location, Gtid gtid, int, int count,
                                           ReductionInput *inputs) {
    return begin_construct_reductions(location, gtid, count, inputs);
}
KMP_API void *__kmpc_task_reduction_modifier_init(Ident *location, Gtid gtid, int, int count,
                                                  OldReductionInput *inputs) {
    return begin_construct_reductions(location, gtid, count, inputs);
}
KMP_API void __kmpc_task_reduction_modifier_fini(Ident *location, Gtid gtid, int) {
    __kmpc_end_taskgroup(location, gtid);
}

KMP_API void *__kmpc_task_reduction_get_th_data(Gtid, void *group, void *shared) {
    sched::Worker &worker = omp::here();
    const auto *start = group ? static_cast<Taskgroup *>(group) : worker.task->taskgroup;
    void *mine = omp::reductions_private(worker, enclosing_reductions(start), shared);
    return mine ? mine : shared; // not a reduction item of any enclosing scope
}
