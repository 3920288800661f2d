// SPDX-License-Identifier: Apache-2.0
// The life of a task.
//
//     created -> (dependences missing) -> ready -> running <-> suspended -> ended -> completed
//
// The files of this room take it from step to step: submit.cpp (depend.h: its place among its
// siblings, and mutexinoutset; priorities.h: what leads to a send comes first), execute.cpp.
// waits.cpp is what a task waits for, observer.h what the scheduler asks and a tool learns.
// lifecycle.h is what they have in common.
//
// ended: the body returned. completed: ended and every external event fulfilled; dependences are
// released, the parent and the taskgroup are told. The memory goes when the task is completed and
// none of its children is left (they still point to it).
//
// Children are counted in two numbers. The parent alone creates children, so it counts them without
// atomics, in `spawned`. A child that completes on its parent's worker takes one from `spawned`: no
// fiber leaves its worker but those of untied tasks, whose children are folded from the start. So
// no two threads ever touch that word. A child that completes elsewhere takes one from `pending`.
// When the parent parks in a taskwait, or completes, `spawned` is added to `pending` and no longer
// used: the children are "folded".
#pragma once

#include "base/assert.h"
#include "base/compiler.h"
#include "base/observed.h"
#include "base/spin.h"
#include "tasks/sched/worker.h"
#include "tasks/trace/trace.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit {

// The states of an explicit task, and the steps between them; checked builds follow them.
//
//     created ──► ready ──► running ──► completed
//        │          ▲ │        │ ▲
//        │          │ ▼        │ └──► suspended ──► ready
//        └──────► excluded     ├────► paused ──► ready
//                              └────► ended ───► completed, ready, suspended
//
// created: its creator alone knows it, or predecessors that have not completed. excluded: wants its
// mutexinoutset items; from `created` where its creator runs it at once. suspended: waits in
// sennit_task_suspend, its body is on a parked fiber. paused: its body has returned and asks to be
// called again later, or was cut in parts (straight to ready). ended: its body has returned,
// external events are left; the last thing of some is a callback, which may wait. completed:
// dependences are released; the memory stays until the last child and the last successor have
// forgotten it.

enum class TaskState : std::uint8_t {
    created,
    excluded,
    ready,
    running,
    suspended,
    paused,
    ended,
    completed,
};

constexpr unsigned after(TaskState state) {
    using enum TaskState;
    switch (state) {
    case created:
        return states(excluded, ready, running);
    case excluded:
        return states(ready, running);
    case ready:
        return states(excluded, running);
    case running:
        return states(suspended, paused, ready, ended, completed);
    case suspended:
        return states(running, ready); // ready: it may go on on another worker
    case paused:
        return states(ready);
    case ended:
        return states(completed, ready, suspended);
    case completed:
        break;
    }
    return 0;
}

using TaskStates = States<TaskState, after>;

} // namespace sennit

struct sennit_task {}; // the public handle is a Task
struct sennit_wait;    // sennit.h

namespace sennit {

namespace policy {
struct Vertex;
class Profile;
} // namespace policy

struct Icvs; // the room above's: internal control variables
struct DependNode;
struct DependTable;    // depend.h
struct MutexSet;       // exclusion.h
struct TaskReductions; // the room above's

namespace task {
struct ToolRecord; // observer.h
}

struct DependEdge {
    DependNode *successor;
    DependEdge *next;
};

// A task, or another waiter, among those that are ordered by dependences: see depend.h.
struct DependNode {
    static constexpr int kBias = 1 << 30;
    Atomic<int> references{1}; // the task's, and one for all places in its table
    Atomic<int> missing{kBias};
    Atomic<DependEdge *> successors{nullptr};
    Task *task = nullptr;                  // null: a waiter without a task (taskwait depend)
    sched::WaitCell *waiter = nullptr;     // signalled instead of queueing the task
    MutexSet *mutexes = nullptr;           // mutexinoutset
    int places = 0;                        // in the table, whose task alone counts them
    DependEdge own_edge{nullptr, nullptr}; // to the first predecessor; most tasks have no other

    static DependEdge *closed() { return reinterpret_cast<DependEdge *>(1); }
    bool done() const { return successors.load(std::memory_order_acquire) == closed(); }
};
static_assert(sizeof(DependNode) == kCacheLine);

// The tasks created in a taskgroup region, their descendants included, wait for each other's end
// here (OpenMP 5.2, 15.3). Lives in the frame of the encountering task's region.
struct Taskgroup {
    Taskgroup *outer = nullptr;
    // Unfinished tasks * 2 + "somebody is parked in cell".
    Atomic<std::int64_t> count{0};
    sched::WaitCell cell;
    Atomic<bool> cancelled{false};
    // The implicit one of reduction(task, ...) on a construct: to `cancel` it is part of the outer.
    bool of_construct = false;
    TaskReductions *reductions = nullptr;
};

struct alignas(kCacheLine) Task : sched::Item, sennit_task {
    enum Flag : std::uint32_t {
        kImplicit = 1u << 0,
        kInitial = 1u << 1,
        kUntied = 1u << 2,
        kFinal = 1u << 3,      // descendants are included tasks
        kUndeferred = 1u << 4, // the creator waits for its body, so it is counted nowhere
        kMergeable = 1u << 5,
        kEvents = 1u << 6,      // `events` is in use
        kSpawned = 1u << 7,     // by sennit_task_spawn: the payload is a SpawnPayload
        kRequeued = 1u << 8,    // an untied task put itself back: the body has not ended yet
        kSent = 1u << 9,        // notified a send (policies learn from it)
        kOffers = 1u << 10,     // others than threads of its team may run the tasks that it makes
        kDiscarded = 1u << 11,  // cancelled before it began: the front door skips the body
        kProfiled = 1u << 12,   // `profile` wants to know how it ends
        kListed = 1u << 13,     // has ended and waits for events: on the list of its worker
        kObserved = 1u << 14,   // kUndeferred; somebody was told of its begin
        kOddWaits = 1u << 15,   // of its waits for an unnamed task, see wait_depends_of_next
        kRunsAlways = 1u << 16, // cancelled or not: only its body destroys what was constructed
        kWorksFor = 1u << 17,   // for `account`
        kOffered = 1u << 18,    // others than threads of its team may run it: let_others_run()
        kTests = 1u << 19,      // has tested in vain for some time
        kAhead = 1u << 20,   // kUndeferred; deferred for the program: nobody waits for its events
        kPiece = 1u << 21,   // kAhead; a part of its parent's work: their parent is the same
        kNests = 1u << 22,   // in a team of one its tasks run at once: LLVM's ABI
        kHandsOn = 1u << 23, // its priority, to its children (priorities.h); their own may, too
        kRoams = 1u << 24,   // its body runs on a roaming fiber (roaming.h)
        kAway = 1u << 25,    // kRoams; it is suspended, or ready to go on, and no worker has it
    };
    // What a new task has from its parent.
    static constexpr std::uint32_t kInherited = kFinal | kWorksFor | kHandsOn;

    // The parent of many children has three lines that threads share. It writes the first one when
    // it creates a child. Threads that complete children elsewhere read the second one and write
    // the third one.
    void (*invoke)(Task &task) = nullptr; // runs the body; the front door's
    Task *parent = nullptr;
    sched::Group *team = nullptr;
    Taskgroup *taskgroup = nullptr;
    std::uint32_t flags = 0;
    std::int32_t spawned = 0; // children not folded; may fall below zero after a fold

    alignas(kCacheLine) std::atomic<sched::Worker *> home{nullptr}; // where it runs or is suspended
    Atomic<bool> folded{false};  // children are counted in `pending` alone
    std::uint8_t again = 0;      // with kRequeued: task::Again
    std::uint8_t again_mode = 0; // alpi_suspend_mode_t chosen by the task
    [[no_unique_address]] TaskStates state{TaskState::created};
    std::uint32_t abi_flags = 0;    // the front door's own
    std::uint32_t payload_size = 0; // bytes, as the front door asked
    std::uint32_t account;          // with kWorksFor, see accounts.h; else undefined
    const Icvs *icvs = nullptr;
    DependNode *depend = nullptr; // `node` once it is made: this task among its siblings
    DependTable *children_depend = nullptr;
    void *entry = nullptr;          // the compiler's function: names, profiles
    Atomic<std::int64_t> events{1}; // what is left, see kBoundEvent

    // Unfinished children * 4 + kWaiting + kEnded, as far as folded.
    alignas(kCacheLine) Atomic<std::int64_t> pending{0};
    sched::WaitCell children_cell; // taskwait; with kAway: keeps the fiber
    sched::WaitCell block_cell;    // sennit_task_suspend
    union {
        std::uint64_t again_after_ns = 0; // with kRequeued
        Task *listed_next;                // with kListed
    };
    std::uint64_t trace_id = 0;
    // priorities.h: from creation to start, under sa and fa; successors look at it later, too
    policy::Vertex *vertex = nullptr;
    union {
        policy::Profile *profile = nullptr; // with kProfiled, until it ends
        Task **listed_at;                   // with kListed; see events.cpp
    };
    task::ToolRecord *tool; // observer.h; undefined where no tool is attached

    // A DependNode when the task has dependences; not touched otherwise.
    alignas(kCacheLine) std::byte node[sizeof(DependNode)];

    // In `events`: 1 for the body, 1 for each event that the compiler has made (detach), and this
    // for each that the body has bound to its own task.
    static constexpr std::int64_t kBoundEvent = 4;
    // The creator waits in children_cell until none of those is left; the body's 1 stays till then.
    static constexpr std::int64_t kHoldsCreator = std::int64_t{1} << 62;
    // How many events are not fulfilled, of a task whose body has ended.
    static constexpr std::int64_t events_in(std::int64_t left) {
        const std::int64_t body = (left & kHoldsCreator) ? 1 : 0;
        return (left & ~kHoldsCreator) / kBoundEvent + left % kBoundEvent - body;
    }

    static constexpr std::int64_t kWaiting = 1;
    static constexpr std::int64_t kEnded = 2;
    static constexpr std::int64_t kChild = 4;

    bool is(std::uint32_t flag) const { return (flags & flag) != 0; }
    bool is_explicit() const { return !is(kImplicit | kInitial); }
    // Where a front door keeps the compiler's data; aligned to 64.
    void *payload() { return this + 1; }
    static Task *of_payload(void *payload) { return static_cast<Task *>(payload) - 1; }
};

namespace task {

struct SpawnPayload {
    void (*body)(void *);
    void *arg;
    void (*done)(void *); // may be null; called at completion
    void *done_arg;
    char label[64];
};

enum class DependKind : std::uint8_t { in, out, mutexinoutset, inoutset };
struct Depend {
    void *address; // null with `out`: omp_all_memory
    DependKind kind;
};
inline Depend all_memory() {
    return {nullptr, DependKind::out};
}

// A task with `payload_size` bytes behind it, child of the caller's task, not yet known to anybody.
Task *allocate(sched::Worker &worker, std::size_t payload_size);

// Give `fresh`, in memory of the caller's choice, the caller's task as parent.
inline void set_up(sched::Worker &worker, Task &fresh, void (*invoke)(Task &), void *entry,
                   std::uint32_t flags, int priority) {
    Task *parent = worker.task;
    fresh.invoke = invoke;
    fresh.entry = entry;
    fresh.parent = parent;
    fresh.team = parent->team;
    fresh.taskgroup = parent->taskgroup;
    fresh.icvs = parent->icvs;
    fresh.flags = flags | (parent->flags & (Task::kInherited | Task::kOddWaits));
    // An untied task may go on elsewhere, so its children are never counted without atomics.
    if (flags & Task::kUntied)
        fresh.folded.store(true, std::memory_order_relaxed);
    fresh.priority = priority;
}

// Hand a task to the scheduler; it runs when its dependences are met, maybe at once on a fiber of
// its own when the queue is long enough. `fresh` must come from allocate().
void submit(sched::Worker &worker, Task &fresh, const Depend *depends, int count);

// Hand over a task without dependences as a sibling of the running task `self`: part of its work.
void submit_sibling(sched::Worker &worker, const Task &self, Task &fresh);

// Tasks wait in queues of any length (KMP_ENABLE_TASK_THROTTLING=0).
void never_throttle();

// Would submit() of a task without dependences run it at once?
inline bool throttled(sched::Worker &worker);

// Hand an independent task to a group that the caller is no thread of. `fresh.parent` must count
// its children in `pending` (folded).
void submit_elsewhere(sched::Worker &worker, Task &fresh);

// Others than threads of a team run its tasks (others.h): those with kOffered, and those whose
// parent has kOffers. From now on. With offer_all_tasks(): tasks of any parent.
class Others;
void let_others_run(Others &others);
void offer_all_tasks();
// On a worker that is no thread of the task's team, within another task. `guest`, where the task
// runs, is in the caller's group.
void run_beyond_team(sched::Worker &worker, sched::Slot &guest, Task &task);

// Wait until the given dependences on the caller's earlier children are met ("if(0)" tasks,
// `taskwait depend`); an undeferred task `self`, if given, takes part in the ordering of later
// siblings until it is complete.
void wait_depends(sched::Worker &worker, Task *self, const Depend *depends, int count);

inline void wait_depends_only(sched::Worker &worker, const Depend *depends, int count) {
    wait_depends(worker, nullptr, depends, count);
}

// The same where a compiler does not say whose dependences they are. They may be those of a
// `taskwait depend`, or of an undeferred task that was made before and begins next. So the creator
// changes kOddWaits at each such wait, and tasks inherit it when they are made: the task that
// begins shows whether it was made before the last wait. Then the wait was for its dependences, and
// begin_waited() makes the task take part in the order.
void wait_depends_of_next(sched::Worker &worker, const Depend *depends, int count);
void begin_waited_slow(sched::Worker &worker, Task &task);
inline void begin_waited(sched::Worker &worker, Task &task) {
    if (worker.task->children_depend)
        begin_waited_slow(worker, task);
}

// An undeferred task, from allocate(), from the wait for its dependences to its end.
void run_undeferred(sched::Worker &worker, Task &task, const Depend *depends, int count);

// Make `task` (kUndeferred, from allocate()) the worker's current task, and back; end frees it.
// Between the two the body runs on the caller's stack.
inline void begin_undeferred(sched::Worker &worker, Task &task);
inline void end_undeferred(sched::Worker &worker, Task &task);

// The same for a task without a payload. It is one of the worker's spare tasks, which are set up
// already, and goes back to them at the end. Its `invoke` stays unset, for nobody queues it. An
// object in the caller's frame keeps what the end needs, so that it can stay in registers.
class Included {
  public:
    inline Included(sched::Worker &worker, void *entry, std::uint32_t flags);
    inline ~Included();
    // The task has ended, and the next one of a series begins, with the same entry and flags. True:
    // this object is the next one, too.
    inline bool renew();
    Included(const Included &) = delete;
    Included &operator=(const Included &) = delete;

  private:
    sched::Worker &worker_;
    Task *const parent_;
    Task *task_;
    std::uint32_t flags_;
};

// Wait for the children of the current task / for the tasks of `group`.
void wait_children(sched::Worker &worker);
void begin_taskgroup(sched::Worker &worker, Taskgroup &group);
void end_taskgroup(sched::Worker &worker);

// The running task asks for its body to be called again once it has returned: an untied task that
// the compiler cut in parts, or alpi_task_suspend.
enum class Again : std::uint8_t { at_once, after_others, after_time, after_events };
void requeue(Task &task, Again when = Again::at_once, std::uint64_t ns = 0);

// External events. fulfil may be called on any thread. Those that the task's own body binds, see
// sennit.h:
void bind_events(Task &task, std::int64_t count);
// `then`: where the first goes that this makes ready.
enum class Then { queue, next };
void fulfil_events(Task &task, std::int64_t count, Then then = Then::queue);
// One, in a polling service that only returns afterwards.
void fulfil_last(Task &task);
// One that belongs to the task from the start, and to the program (detach).
void bind_detach_event(Task &task);
void fulfil_detach_event(Task &task);
// Does the creator of the running task wait for its structured block, but not for its own event?
inline bool is_undeferred_and_detachable(const Task &task) {
    return task.is(Task::kUndeferred) && task.is(Task::kEvents) &&
           task.events.load(std::memory_order_relaxed) % Task::kBoundEvent > 1;
}

// Suspend the current task until resume; one token is kept. `why` is for reports and may be null.
void suspend(sched::Worker &worker, const sennit_wait *why = nullptr);
void resume(Task &task);

// May anything in this process suspend on an outside event (MPI tasks, events, taskyield)? Then a
// throttled task needs a fiber of its own, or its creator could not go on.
bool may_suspend();
// May the current task block its thread rather than be suspended? Nothing else could run there
// until it goes on, and no task waits for an outside event, which might make others ready.
bool may_block(const sched::Worker &worker);
void note_may_suspend();

// Release what a finished implicit task holds (dependence table). Its memory is the caller's.
void retire_implicit_slow(sched::Worker &worker, Task &task);
inline void retire_implicit(sched::Worker &worker, Task &task) {
    if (SENNIT_UNLIKELY(task.children_depend != nullptr))
        retire_implicit_slow(worker, task);
}

// Discard tasks of cancelled regions and taskgroups (cancel-var); once, before any task exists.
void heed_cancellation();
// Has the task's region or taskgroup been cancelled?
inline bool is_cancelled(const Task &task);

namespace detail {
// Hidden: tested in memory, without a look at the GOT first.
[[gnu::visibility("hidden")]] extern std::atomic<bool> g_may_suspend;
[[gnu::visibility("hidden")]] extern std::uint32_t g_throttle;
constexpr std::uint32_t kNever = 0xffffffff;
// May a thread that is alone in its team run a task as soon as it is made? Not once a task may wait
// for its creator, nor where tasks run in an order or wait in queues of any length.
[[gnu::visibility("hidden")]] extern std::atomic<bool> g_lone_at_once;

// Does a thread that is alone in its team run a new task at once? Outside of parallel regions it
// does, as with the stock runtimes. In a region, a task does so with LLVM's ABI, as in libomp, as
// long as there is room on the stack. With GCC's, where libgomp would not do so at all, only the
// implicit task does: a recursion would go as deep as there are tasks.
bool nests_at_once(const sched::Worker &worker);
inline bool at_once(const sched::Worker &worker) {
    const Task &creator = *worker.task;
    return worker.slot->outside || (creator.is(Task::kImplicit | Task::kInitial | Task::kNests) &&
                                    g_lone_at_once.load(std::memory_order_relaxed) &&
                                    (!creator.is_explicit() || nests_at_once(worker)));
}
} // namespace detail

// The taskgroup that `cancel taskgroup` in this task means; null for none.
inline Taskgroup *cancellable_taskgroup(const Task &task) {
    Taskgroup *group = task.taskgroup;
    while (group && group->of_construct)
        group = group->outer;
    return group;
}
inline bool is_cancelled(const Task &task) {
    if (SENNIT_LIKELY(!observed::by(observed::kCancellation)))
        return false;
    const Taskgroup *group = cancellable_taskgroup(task);
    return task.team->cancelled.load(std::memory_order_relaxed) ||
           (group && group->cancelled.load(std::memory_order_relaxed));
}
inline bool may_suspend() {
    return detail::g_may_suspend.load(std::memory_order_relaxed);
}
inline bool throttled(sched::Worker &worker) {
    sched::Slot &slot = *worker.slot;
    return (SENNIT_UNLIKELY(slot.alone) && detail::at_once(worker)) ||
           slot.is_long(detail::g_throttle);
}
void setup();

namespace detail {
Task *make_spare(sched::Worker &worker);
void observed_undeferred_begin(sched::Worker &worker, Task &task);
void observed_included_begin(sched::Worker &worker, Task &task);
void end_undeferred_slow(sched::Worker &worker, Task &task);

// Has the undeferred task left something to clear up, to wait for or to tell? One branch answers
// for all of that.
inline bool left_something(const Task &task, std::uintptr_t also = 0) {
    const std::uint64_t left =
        (task.flags & (Task::kEvents | Task::kObserved)) | also |
        reinterpret_cast<std::uintptr_t>(task.children_depend) |
        static_cast<std::uint32_t>(task.spawned) |
        static_cast<std::uint64_t>(task.pending.load(std::memory_order_relaxed));
    return SENNIT_UNLIKELY(left != 0);
}
} // namespace detail

inline void begin_undeferred(sched::Worker &worker, Task &task) {
    SENNIT_ASSERT(task.parent == worker.task && task.state.step(TaskState::running));
    worker.count_task();
    task.home.store(&worker, std::memory_order_relaxed);
    worker.task = &task;
    if (observed::by_anybody())
        detail::observed_undeferred_begin(worker, task);
}

inline void end_undeferred(sched::Worker &worker, Task &task) {
    SENNIT_ASSERT(worker.task == &task && &worker == sched::Worker::self());
    if (detail::left_something(task, reinterpret_cast<std::uintptr_t>(task.depend))) {
        detail::end_undeferred_slow(worker, task);
    } else {
        SENNIT_ASSERT(task.state.step(TaskState::completed));
        worker.task = task.parent;
        worker.heap.release(&task);
    }
}

inline Included::Included(sched::Worker &worker, void *entry, std::uint32_t flags)
    : worker_(worker), parent_(worker.task), task_(worker.spare_tasks),
      flags_(flags | Task::kUndeferred | (parent_->flags & Task::kInherited)) {
    if (SENNIT_UNLIKELY(!task_))
        task_ = detail::make_spare(worker);
    worker.spare_tasks = task_->parent;
    task_->state.restart(TaskState::running);
    task_->entry = entry;
    task_->parent = parent_;
    task_->team = parent_->team;
    task_->taskgroup = parent_->taskgroup;
    task_->icvs = parent_->icvs;
    task_->flags = flags_;
    worker.count_task();
    worker.task = task_;
    if (observed::by_anybody())
        detail::observed_included_begin(worker, *task_);
}

inline bool Included::renew() {
    SENNIT_ASSERT(worker_.task == task_ && task_->state.is(TaskState::running));
    if (detail::left_something(*task_) || task_->flags != flags_)
        return false;
    worker_.count_task();
    return true;
}

inline Included::~Included() {
    SENNIT_ASSERT(worker_.task == task_ && task_->state.is(TaskState::running));
    if (detail::left_something(*task_)) {
        detail::end_undeferred_slow(worker_, *task_); // not spare again: its children point to it
        return;
    }
    worker_.task = parent_;
    task_->parent = worker_.spare_tasks;
    worker_.spare_tasks = task_;
}

} // namespace task
} // namespace sennit
