// SPDX-License-Identifier: Apache-2.0
// Short critical sections. A SpinLock guards a handful of instructions, never a call into user code
// and never a suspension.
#pragma once

#include "base/assert.h"
#include "base/guard.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sched.h>
#if SENNIT_SCHEDULES
#include "schedules.h"
#endif

namespace sennit {

// Words of structures that tests/schedules runs under every schedule: there, and only there, each
// access to them can be followed by another thread's.
#if SENNIT_SCHEDULES
template <class T>
using Atomic = schedules::Atomic<T>;
// An atomic access to what is else no atomic word.
template <class T>
Atomic<T> &atomic_at(T &word) {
    return reinterpret_cast<Atomic<T> &>(word);
}
#else
template <class T>
using Atomic = std::atomic<T>;
template <class T>
std::atomic_ref<T> atomic_at(T &word) {
    return std::atomic_ref(word);
}
#endif

inline void cpu_relax() {
#if SENNIT_SCHEDULES
    schedules::spin();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// For both sides of a Dekker pair whose words are Atomic.
#if SENNIT_SCHEDULES
using schedules::full_fence;
#else
inline void full_fence() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
#endif

// To or from memory that threads have by turns: whose turn it is, an Atomic says.
#if SENNIT_SCHEDULES
using schedules::copy_shared;
#else
inline void copy_shared(void *to, const void *from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
}
#endif

// Time stamp for rate limits: cheap, monotonic per core, unit unspecified (see ticks_per_us).
inline std::uint64_t ticks() {
#if SENNIT_SCHEDULES
    return schedules::ticks();
#elif defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#endif
}

class SENNIT_IS_LOCK SpinLock {
  public:
    void lock() SENNIT_ACQUIRE() {
#if SENNIT_SCHEDULES
        if (schedules::has_lock_for_itself() || schedules::takes_lock(word_.word()))
            return;
#endif
        if (!try_lock())
            lock_slow();
    }
    bool try_lock() SENNIT_TRY_ACQUIRE(true) {
#if SENNIT_SCHEDULES
        if (schedules::has_lock_for_itself())
            return true;
#endif
        return word_.load(std::memory_order_relaxed) == 0 &&
               word_.exchange(1, std::memory_order_acquire) == 0;
    }
    void unlock() SENNIT_RELEASE() {
#if SENNIT_SCHEDULES
        if (schedules::has_lock_for_itself())
            return;
#endif
        word_.store(0, std::memory_order_release);
    }
    void assert_held() const SENNIT_ASSERT_HELD() {}
    // Free it: a thread that the child of fork() does not have may have held it.
    void after_fork_in_child() { word_.store(0, std::memory_order_relaxed); }

  private:
    // The holder may have lost its processor (more workers than cores): give ours up after a while.
    [[gnu::noinline]] void lock_slow() SENNIT_ACQUIRE() {
        for (int round = 0;; ++round) {
            if (try_lock())
                return;
            if (round < 64)
                cpu_relax();
            else
                sched_yield();
        }
    }
    Atomic<std::uint8_t> word_{0};
};

// For what one thread does and others need not wait for: they go on if it is taken.
class Token {
  public:
    // False: another thread has it. Acquire: pairs with release().
    bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
    void release() {
        SENNIT_ASSERT(is_taken());
        taken_.store(false, std::memory_order_release);
    }
    bool is_taken() const { return taken_.load(std::memory_order_relaxed); }

  private:
    Atomic<bool> taken_{false};
};

} // namespace sennit
