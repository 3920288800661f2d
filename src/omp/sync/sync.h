// SPDX-License-Identifier: Apache-2.0
// Locks and critical sections that park the waiting task, not its thread (OpenMP 5.2, 15.2, 18.9):
// the holder may be suspended on that very thread. A holder that runs is waited for first.
//
// GCC's omp_lock_t is 4 bytes, so the mutex is one 32-bit word. Who waits for it is in a global
// table of queues, hashed by the word's address (sched/parking_lot.h). On a Sennit worker a waiter
// is a fiber, on any other thread a futex sleeper.
#pragma once

#include "sched/worker.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

// 0 is free; else kHeld, kContended when somebody waits, and above these some bits of the holding
// task's address, which waiters and reports can tell it
// by.
class Mutex {
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

    std::atomic<std::uint32_t> word_{0};
};
static_assert(sizeof(Mutex) == 4);

// A nestable lock, owned by a task. An omp_nest_lock_t (GCC's has 16 bytes, Clang's 8) points to
// one.
struct NestMutex {
    Mutex mutex;
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
Mutex &default_critical();
Mutex &atomic_mutex();
// A named critical section: `word` is the compiler's pointer-sized, zero-initialized variable,
// which holds the mutex itself.
Mutex &named_critical(void *word);

} // namespace sennit::omp
