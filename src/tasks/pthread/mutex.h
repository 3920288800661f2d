// SPDX-License-Identifier: Apache-2.0
// Mutexes and read-write locks in tasks. A lock that stays contended, or whose holder is suspended,
// suspends the task (parking.h). A
// recursive or error-checking mutex asks for its owner: that is a task (owner.h).
//
// In code that is not the program's own (caller.h), a task is suspended only for a lock that a
// suspended task holds. Any other holder unlocks it without telling us. So the thread blocks for a
// while, then looks again.
#pragma once

#include "base/hash.h"
#include "tasks/pthread/parking.h"
#include "tasks/sched/worker.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace sennit::pthread {

// As the functions that they are named after; `caller` is the address that they return to.
int mutex_lock(pthread_mutex_t *mutex, const void *caller);
int mutex_trylock(pthread_mutex_t *mutex, const void *caller);
int mutex_clocklock(pthread_mutex_t *mutex, const Deadline &until, const void *caller);
int mutex_unlock(pthread_mutex_t *mutex);

int rwlock_rdlock(pthread_rwlock_t *lock, const Deadline &until, const void *caller);
int rwlock_wrlock(pthread_rwlock_t *lock, const Deadline &until, const void *caller);
int rwlock_tryrdlock(pthread_rwlock_t *lock, const void *caller);
int rwlock_trywrlock(pthread_rwlock_t *lock, const void *caller);
int rwlock_unlock(pthread_rwlock_t *lock);

int spin_lock(pthread_spinlock_t *lock, const void *caller);
int spin_trylock(pthread_spinlock_t *lock, const void *caller);

// Which task holds a mutex or, for writing, a read-write lock.
//
// libc notes the kernel thread, which is the same for all tasks of a worker. We note the fiber
// beside it, in a word of the object that libc uses only for robust and priority-inheriting mutexes
// (bits/struct_mutex.h), or not at all (bits/struct_rwlock.h). A thread that is not the owner may
// find an older fiber there. So the word counts only together with the kernel thread's number,
// which no other process's thread has.

struct Owner {
    int *thread;         // libc's note
    sched::Fiber **word; // ours; null where there is no room for it

    static Owner of(pthread_mutex_t &mutex) {
        constexpr int kListed = 16 | 32; // robust, priority inheritance
        auto &data = mutex.__data;
        const bool listed = __atomic_load_n(&data.__kind, __ATOMIC_RELAXED) & kListed;
        return {&data.__owner,
                listed ? nullptr : reinterpret_cast<sched::Fiber **>(&data.__list.__next)};
    }
    static Owner of(pthread_rwlock_t &lock) {
        return {&lock.__data.__cur_writer, reinterpret_cast<sched::Fiber **>(&lock.__data.__pad2)};
    }

    int thread_id() const { return __atomic_load_n(thread, __ATOMIC_RELAXED); }
    const sched::Fiber *fiber() const {
        return word ? __atomic_load_n(word, __ATOMIC_RELAXED) : nullptr;
    }
    void note(sched::Fiber *fiber) const {
        if (word)
            __atomic_store_n(word, fiber, __ATOMIC_RELAXED);
    }
    // Does this kernel thread hold it, but another task than the one that runs? What is not noted
    // was locked when the thread had no tasks: like libc, we take the caller for the owner.
    bool is_another_task(const sched::Worker &worker) const {
        const sched::Fiber *const holder = fiber();
        return thread_id() == worker.thread.id() && holder && holder != worker.current();
    }
    // Is the holder's fiber suspended, or this very thread's? A look at some moment: another
    // thread's fiber may come and go. So is a fiber whose worker idles on it.
    bool is_suspended(const sched::Worker &self) const;
};

// Mutexes that libc unlocks without telling us: a thread that blocks in pthread_cond_wait unlocks
// its mutex there. A task that waits for such a mutex looks again now and then.
//
// The argument is that of parking.h. The thread counts itself, fence, wakes who is in the lot; who
// is woken looks here. A waiter enters the lot, fence, looks here.

namespace detail {
constexpr unsigned kUnlockCountBits = 6;
constexpr std::size_t kUnlockCounts = std::size_t{1} << kUnlockCountBits;
extern std::atomic<int> g_libc_unlocks[kUnlockCounts]; // hashed by the mutex's address

inline std::atomic<int> &unlock_count(const pthread_mutex_t &mutex) {
    return g_libc_unlocks[hash_place(&mutex, kUnlockCountBits)];
}
} // namespace detail

// Perhaps: another mutex may have the same hash.
inline bool unlocked_by_libc(const pthread_mutex_t &mutex) {
    return detail::unlock_count(mutex).load(std::memory_order_relaxed) > 0;
}

// While the calling thread is in a call of libc that unlocks `mutex`.
class LibcUnlock {
  public:
    explicit LibcUnlock(const pthread_mutex_t &mutex) : count_(detail::unlock_count(mutex)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        wake(&mutex);
    }
    ~LibcUnlock() { count_.fetch_sub(1, std::memory_order_relaxed); }
    LibcUnlock(const LibcUnlock &) = delete;
    LibcUnlock &operator=(const LibcUnlock &) = delete;

  private:
    std::atomic<int> &count_;
};

// Whose code waits?

// Is the call that returns to `return_address` one of the program's own code: of the program, or of
// a library that needs an OpenMP runtime, for tasks are in these? Code of the C++ library,
// Fortran's and AddressSanitizer's waits for who called it. All else may keep things per kernel
// thread that do not stand another task in between: an MPI library, its transports, drivers,
// allocators.
bool is_program_code(const void *return_address);

} // namespace sennit::pthread
