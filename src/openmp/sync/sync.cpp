// SPDX-License-Identifier: Apache-2.0
// The parking lot behind TaskMutex. Invariant: while somebody is in a bucket for a mutex that is
// held, the word is kContended, or a waiter that was woken is about to make it so. So no wake-up is
// lost.
#include "openmp/sync/sync.h"

#include "base/message.h"
#include "openmp/team/team.h"
#include "tasks/sched/parking_lot.h"
#include "tasks/sched/processors.h"
#include "wait/rows.h"

#include <algorithm>
#include <cstdlib>

namespace sennit::omp {
namespace {

constexpr std::uint64_t kSpinUs = wait::whole_us(wait::kLock.idle_ns);
constexpr int kLongestPause = 16; // in cpu_relax()
constexpr std::uint64_t kShortlyUs = wait::whole_us(wait::kLock.naps.shortest_ns);
constexpr std::uint64_t kMostShortlyUs = wait::whole_us(wait::kLock.naps.longest_ns);

SENNIT_TLS int t_suspended_here = 0; // tasks that wait for a mutex on this thread

// A waiter for a mutex. It lives in the waiter's frame.
struct Waiter : sched::ParkingLot::Waiter {
    using sched::ParkingLot::Waiter::Waiter;
    bool is_fiber = false;
    sched::WaitCell cell; // a fiber
    FutexWord woken{0};   // another thread
};

sched::ParkingLot g_lot;

} // namespace

void parking_before_fork() {
    g_lot.before_fork();
}

void parking_after_fork() {
    g_lot.after_fork();
}

void parking_after_fork_in_child() {
    g_lot.after_fork_in_child();
}

// A look at some moment. A thread without tasks runs, as far as anybody knows.
bool TaskMutex::holder_runs(const sched::Worker &self) const {
    const std::uint32_t mark = word_.load(std::memory_order_relaxed) & ~kState;
    if (mark == 0)
        return true;
    for (const sched::Worker &worker : sched::Worker::all())
        if (mark_of(worker.task_now()) == mark)
            return &worker != &self && worker.activity.idle_since() == 0;
    return false;
}

// Suspended, the task would make room for the next one, which may wait for the same mutex, and so
// on: hundreds of tasks would be bound to this thread. So it waits awake for a holder that runs;
// the longer, the more tasks are suspended here already. True: it has been woken. Without tasks in
// the team there are no next ones.
bool TaskMutex::wait_shortly(sched::Worker &self, const sched::WaitCell &cell) const {
    constexpr int looks_at_holder = 32;
    const sched::Group &team = *self.slot->group;
    if (!self.task || (!self.task->is_explicit() &&
                       (!team.has_tasks.load(std::memory_order_relaxed) || team.quiescent())))
        return false;
    const std::uint64_t most =
        std::min(kShortlyUs << std::min(t_suspended_here, 32), kMostShortlyUs);
    const std::uint64_t end = ticks() + most * sched::ticks_per_us();
    while (holder_runs(self) && ticks() < end) {
        if (sched::crowded())
            self.thread.yield(); // which may take long
        for (int look = 0; look < looks_at_holder; ++look) {
            if (cell.signalled())
                return true;
            cpu_relax();
        }
    }
    return false;
}

SENNIT_NOINLINE void TaskMutex::lock_slow() {
    if (!sched::crowded()) {
        // Each look takes the cache line away from the holder, who would pay for it. So looks
        // become less and less frequent.
        int pause = 1;
        for (const std::uint64_t end = ticks() + kSpinUs * sched::ticks_per_us(); ticks() < end;) {
            for (int i = 0; i < pause; ++i)
                cpu_relax();
            pause = std::min(2 * pause, kLongestPause);
            if (!held() && try_lock())
                return;
        }
    }
    for (;;) {
        Waiter waiter(this);
        sched::Worker *worker = sched::Worker::self();
        if (worker && !worker->slot)
            worker = nullptr; // a thread without tasks
        waiter.is_fiber = worker != nullptr;
        // This is done under the bucket's lock. An unlock that misses this mark has not freed the
        // word yet. An unlock that sees it finds us in the bucket.
        const bool waits = g_lot.enter(waiter, [this] {
            return word_.fetch_or(kHeld | kContended, std::memory_order_acquire) & kHeld;
        });
        if (!waits) {
            word_.fetch_or(mark_of(task_here()), std::memory_order_relaxed);
            return;
        }
        if (worker) {
            if (wait_shortly(*worker, waiter.cell))
                continue;
            sched::CellCondition condition(waiter.cell, sched::WaitFor::lock, this);
            condition.may_be_buried = false;
            ++t_suspended_here;
            worker->wait(condition);
            --t_suspended_here;
        } else {
            while (waiter.woken.load(std::memory_order_acquire) == 0)
                futex_wait(waiter.woken, 0);
        }
    }
}

// The word is free already. The waiter that we wake competes with newcomers, so the lock never
// idles.
SENNIT_NOINLINE void TaskMutex::wake_one() {
    Waiter *waiter = nullptr;
    g_lot.take(this, 1,
               [&](sched::ParkingLot::Waiter &first) { waiter = static_cast<Waiter *>(&first); });
    if (!waiter)
        return;
    // The waiter's frame may be gone as soon as the waiter is told.
    if (waiter->is_fiber) {
        waiter->cell.signal();
    } else {
        FutexWord &woken = waiter->woken;
        woken.store(1, std::memory_order_release);
        futex_wake(woken); // a stale address wakes nobody or somebody who looks again
    }
}

namespace {

// The owner of a nestable lock is the current task. A thread that asks before its first region gets
// its initial task here. So it still owns the lock afterwards.
void *owner_here() {
    return here().task;
}

} // namespace

void nest_lock(NestMutex &lock) {
    void *const me = owner_here();
    if (lock.owner.load(std::memory_order_relaxed) != me) {
        lock.mutex.lock();
        lock.owner.store(me, std::memory_order_relaxed);
    }
    ++lock.depth;
}

int nest_try_lock(NestMutex &lock) {
    void *const me = owner_here();
    if (lock.owner.load(std::memory_order_relaxed) != me) {
        if (!lock.mutex.try_lock())
            return 0;
        lock.owner.store(me, std::memory_order_relaxed);
    }
    return ++lock.depth;
}

int nest_unlock(NestMutex &lock) {
    const int left = --lock.depth;
    if (left == 0) {
        lock.owner.store(nullptr, std::memory_order_relaxed);
        lock.mutex.unlock();
    }
    return left;
}

namespace {
struct alignas(kCacheLine) LoneMutex : TaskMutex {}; // shares its line with nothing
LoneMutex g_default_critical;
LoneMutex g_atomic_mutex;
} // namespace

TaskMutex &default_critical() {
    return g_default_critical;
}

TaskMutex &atomic_mutex() {
    return g_atomic_mutex;
}

TaskMutex &named_critical(void *word) {
    return *static_cast<TaskMutex *>(word);
}

void routine::make_nested(void *lock) {
    void *memory = std::malloc(sizeof(NestMutex));
    if (!memory)
        fatal("no memory for a nestable lock (%zu bytes)", sizeof(NestMutex));
    *static_cast<NestMutex **>(lock) = new (memory) NestMutex;
}
void routine::drop_nested(void *lock) {
    std::free(&nested(lock));
}

} // namespace sennit::omp

// Locks, critical, atomic and ordered (OpenMP 5.2, 19.5.2.17 to 19.5.2.20).

namespace sennit::ompt {
namespace {

constexpr unsigned kParking = 1; // the implementation, see openmp/ompt/inquiry.cpp

ToolState state_of(MutexKind kind) {
    switch (kind) {
    case kCritical:
        return kStateCritical;
    case kAtomic:
        return kStateAtomic;
    case kOrdered:
        return kStateOrdered;
    default:
        return kStateLock;
    }
}

} // namespace

void lock_init(Site site, Lock lock) {
    const InRoutine routine(site);
    g_tool.lock_init(lock.kind, lock.hint, kParking, lock.wait_id, routine.code());
}

void lock_destroy(Site site, Lock lock) {
    const InRoutine routine(site);
    g_tool.lock_destroy(lock.kind, lock.wait_id, routine.code());
}

void lock_released(Site site, Lock lock) {
    const InRoutine routine(site);
    g_tool.mutex_released(lock.kind, lock.wait_id, routine.code());
}

Acquiring::Acquiring(Site site, Lock lock) : routine_(site), lock_(lock) {
    g_tool.mutex_acquire(lock.kind, lock.hint, kParking, lock.wait_id, routine_.code());
    task::ToolRecord &record = routine_.record();
    record.wait_id = lock.wait_id;
    record.state = state_of(lock.kind);
}

void note_taken() {
    if (const sched::Worker *const worker = sched::Worker::self())
        ++worker->current()->locks;
}

// Locks that were taken before they were counted are given back, too: the count is one only of a
// fiber whose locks are known (sched::Fiber::locks_known).
void note_given() {
    const sched::Worker *const worker = sched::Worker::self();
    if (worker && worker->current()->locks > 0)
        --worker->current()->locks;
}

void unset_nest_lock(Site site, const void *lock, omp::NestMutex &mutex) {
    note_given();
    if (!on()) {
        omp::nest_unlock(mutex);
        return;
    }
    const InRoutine routine(site);
    const Lock released = lock_at(kNestLock, lock);
    if (omp::nest_unlock(mutex) == 0)
        g_tool.mutex_released(kNestLock, released.wait_id, routine.code());
    else
        g_tool.nest_lock(kEnd, released.wait_id, routine.code());
}

Acquiring::~Acquiring() {
    routine_.record().state = 0;
}

void Acquiring::acquired(int depth) const {
    if (depth > 1)
        g_tool.nest_lock(kBegin, lock_.wait_id, routine_.code());
    else
        g_tool.mutex_acquired(lock_.kind, lock_.wait_id, routine_.code());
}

} // namespace sennit::ompt
