// SPDX-License-Identifier: Apache-2.0
// Locks and critical sections that park the waiting task, not its thread (OpenMP 5.2, 15.2, 18.9):
// the holder may be suspended on that very thread. A holder that runs is waited for first.
//
// GCC's omp_lock_t is 4 bytes, so the mutex is one 32-bit word. Its waiters are in a global
// table of queues, hashed by the word's address (tasks/sched/parking_lot.h). On a Sennit worker a
// waiter is a fiber, on any other thread a futex sleeper.
#pragma once

#include "base/spin.h"
#include "openmp/team/region_events.h"
#include "tasks/sched/worker.h"

#include <atomic>
#include <cstdint>
#include <new>

namespace sennit::omp {

// 0 is free; else kHeld, kContended when somebody waits, and above these some bits of the holding
// task's address, which waiters and reports can tell it by.
//
// Clang's analysis does not know it for a lock (base/guard.h): what it guards is the program's,
// and the program locks it in one call and unlocks it in another.
class TaskMutex {
  public:
    void lock() {
        if (SENNIT_UNLIKELY(!try_lock()))
            lock_slow();
    }
    bool try_lock() {
        std::uint32_t expected = 0;
        return word_.compare_exchange_strong(expected, kHeld | mark_of(task_here()),
                                             std::memory_order_acquire, std::memory_order_relaxed);
    }
    void unlock() {
        if (SENNIT_UNLIKELY(word_.exchange(0, std::memory_order_release) & kContended))
            wake_one();
    }

    bool held() const { return word_.load(std::memory_order_relaxed) & kHeld; }
    // For reports: does the word of a mutex say that `task` holds it?
    static bool is_mark_of(std::uint32_t word, const Task *task) {
        return (word & kHeld) && (word & ~kState) == mark_of(task);
    }

  private:
    enum : std::uint32_t { kHeld = 1, kContended = 2, kState = 3 };
    static const Task *task_here() {
        const sched::Worker *worker = sched::Worker::self();
        return SENNIT_LIKELY(worker != nullptr) ? worker->task : nullptr;
    }
    // Tasks are aligned to 64: the next 30 bits tell those of 64 GiB apart.
    static std::uint32_t mark_of(const Task *task) {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(task) >> 6) << 2;
    }
    bool holder_runs(const sched::Worker &self) const;
    bool wait_shortly(sched::Worker &self, const sched::WaitCell &cell) const;
    void lock_slow();
    void wake_one();

    Atomic<std::uint32_t> word_{0};
};
static_assert(sizeof(TaskMutex) == 4);

// A nestable lock, owned by a task. An omp_nest_lock_t (GCC's has 16 bytes, Clang's 8) points to
// one.
struct NestMutex {
    TaskMutex mutex;
    std::int32_t depth = 0;
    std::atomic<void *> owner{nullptr};
};
void nest_lock(NestMutex &lock);
// New nesting depth, 0 when somebody else holds it.
int nest_try_lock(NestMutex &lock);
int nest_unlock(NestMutex &lock); // depth left

// Around fork(): nobody is in the middle of parking, and in the child only fibers of the calling
// thread still wait.
void parking_before_fork();
void parking_after_fork();
void parking_after_fork_in_child();

// The unnamed critical section's lock, and the one for `atomic` constructs without an instruction.
TaskMutex &default_critical();
TaskMutex &atomic_mutex();
// A named critical section: `word` is the compiler's pointer-sized, zero-initialized variable,
// which holds the mutex itself.
TaskMutex &named_critical(void *word);

} // namespace sennit::omp

// Locks and other mutual exclusion where a tool is attached, or where locks are counted: what is
// done without, the count, and the tool's events. See lock_routines.h for who decides.

namespace sennit::ompt {

// Its identity is `wait_id`.
struct Lock {
    MutexKind kind;
    std::uint64_t wait_id;
    unsigned hint = 0;
};
inline Lock lock_at(MutexKind kind, const void *address, unsigned hint = 0) {
    return {kind, reinterpret_cast<std::uintptr_t>(address), hint};
}
void lock_init(Site site, Lock lock);
void lock_destroy(Site site, Lock lock);
void lock_released(Site site, Lock lock);
void unset_nest_lock(Site site, const void *lock, omp::NestMutex &mutex);
// A task on the current fiber has taken a lock, or gives one back (sched::Fiber::locks).
void note_taken();
void note_given();

// Is there a tool to be told of locks, or are they counted?
inline bool locks_are_noted() {
    return observed::by(observed::kTool | observed::kLocks);
}

// While it lives the current task waits for a lock.
class Acquiring {
  public:
    Acquiring(Site site, Lock lock);
    ~Acquiring();
    Acquiring(const Acquiring &) = delete;
    Acquiring &operator=(const Acquiring &) = delete;
    void acquired(int depth = 1) const; // it has it now

  private:
    const InRoutine routine_;
    const Lock lock_;
};

// take() returns how often the task has the lock now; 0: somebody else has it.
template <class Take>
SENNIT_COLD int acquire(Site site, Lock lock, Take take) {
    int depth;
    if (on()) {
        const Acquiring acquiring(site, lock);
        depth = take();
        if (depth > 0)
            acquiring.acquired(depth);
    } else {
        depth = take();
    }
    if (depth > 0)
        note_taken();
    return depth;
}

template <class Function>
SENNIT_COLD void release(Site site, Lock lock, Function release) {
    note_given();
    release();
    if (on())
        lock_released(site, lock);
}

} // namespace sennit::ompt

// The lock routines (OpenMP 5.2, 18.9) on a program's lock variables, which omp_* and __kmpc_*
// names share. GCC's omp_lock_t is 4 bytes, Clang's 8: the mutex is in the first four. GCC's
// omp_nest_lock_t is 16 bytes, Clang's 8: the variable holds a pointer.
//
// Inlined: a tool is told where the exported routine returns to.

namespace sennit::omp::routine {

inline TaskMutex &simple(void *lock) {
    return *static_cast<TaskMutex *>(lock);
}
inline NestMutex &nested(void *lock) {
    return **static_cast<NestMutex **>(lock);
}
// A mutex around code of the program: a lock variable's, or that of a construct.
SENNIT_TOLD void enter(ompt::MutexKind kind, TaskMutex &mutex, unsigned hint = 0) {
    if (ompt::locks_are_noted()) {
        ompt::acquire(SENNIT_SITE, ompt::lock_at(kind, &mutex, hint), [lock = &mutex] {
            lock->lock();
            return 1;
        });
        return;
    }
    mutex.lock();
}
SENNIT_TOLD void leave(ompt::MutexKind kind, TaskMutex &mutex) {
    if (ompt::locks_are_noted())
        return ompt::release(SENNIT_SITE, ompt::lock_at(kind, &mutex),
                             [lock = &mutex] { lock->unlock(); });
    mutex.unlock();
}

void make_nested(void *lock);
void drop_nested(void *lock);

SENNIT_TOLD void init(void *lock, unsigned hint = 0) {
    new (lock) TaskMutex;
    if (ompt::on())
        ompt::lock_init(SENNIT_SITE, ompt::lock_at(ompt::kLock, lock, hint));
}
SENNIT_TOLD void destroy(void *lock) {
    if (ompt::on())
        ompt::lock_destroy(SENNIT_SITE, ompt::lock_at(ompt::kLock, lock));
}
SENNIT_TOLD void set(void *lock) {
    enter(ompt::kLock, simple(lock));
}
SENNIT_TOLD void unset(void *lock) {
    leave(ompt::kLock, simple(lock));
}
SENNIT_TOLD int test(void *lock) {
    if (ompt::locks_are_noted())
        return ompt::acquire(SENNIT_SITE, ompt::lock_at(ompt::kTestLock, lock),
                             [mutex = &simple(lock)] { return int{mutex->try_lock()}; });
    return simple(lock).try_lock();
}

SENNIT_TOLD void init_nest(void *lock, unsigned hint = 0) {
    make_nested(lock);
    if (ompt::on())
        ompt::lock_init(SENNIT_SITE, ompt::lock_at(ompt::kNestLock, lock, hint));
}
SENNIT_TOLD void destroy_nest(void *lock) {
    if (ompt::on())
        ompt::lock_destroy(SENNIT_SITE, ompt::lock_at(ompt::kNestLock, lock));
    drop_nested(lock);
}
SENNIT_TOLD void set_nest(void *lock) {
    if (ompt::locks_are_noted()) {
        ompt::acquire(SENNIT_SITE, ompt::lock_at(ompt::kNestLock, lock), [mutex = &nested(lock)] {
            nest_lock(*mutex);
            return mutex->depth;
        });
        return;
    }
    nest_lock(nested(lock));
}
SENNIT_TOLD void unset_nest(void *lock) {
    if (ompt::locks_are_noted())
        return ompt::unset_nest_lock(SENNIT_SITE, lock, nested(lock));
    nest_unlock(nested(lock));
}
SENNIT_TOLD int test_nest(void *lock) {
    if (ompt::locks_are_noted())
        return ompt::acquire(SENNIT_SITE, ompt::lock_at(ompt::kTestNestLock, lock),
                             [mutex = &nested(lock)] { return nest_try_lock(*mutex); });
    return nest_try_lock(nested(lock));
}

} // namespace sennit::omp::routine
