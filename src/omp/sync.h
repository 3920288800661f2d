// SPDX-License-Identifier: Apache-2.0
// Locks and critical sections that park the waiting task, not its thread (OpenMP 5.2, 15.2, 18.9).
//
// GCC's omp_lock_t is 4 bytes, so the mutex is one 32-bit word; who waits is kept in a global table
// of parking queues, hashed by the word's address ("parking lot"). A waiter on a Sennit worker is
// a fiber, on any other thread a futex sleeper.
#pragma once

#include "sched/worker.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

// 0 free, 1 held, 2 held and somebody waits.
class Mutex {
  public:
    void lock() {
        if (SENNIT_UNLIKELY(!try_lock()))
            lock_slow();
    }
    bool try_lock() {
        std::uint32_t expected = 0;
        return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                             std::memory_order_relaxed);
    }
    void unlock() {
        if (SENNIT_UNLIKELY(word_.exchange(0, std::memory_order_release) == 2))
            wake_one();
    }

  private:
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

// The unnamed critical section's lock, and the one for `atomic` constructs without an instruction.
Mutex &default_critical();
Mutex &atomic_mutex();
// A named critical section: `word` is the compiler's pointer-sized, zero-initialized variable,
// which holds the mutex itself.
Mutex &named_critical(void *word);

} // namespace sennit::omp
