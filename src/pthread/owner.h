// SPDX-License-Identifier: Apache-2.0
// Which task holds a mutex or, for writing, a read-write lock.
//
// libc notes the kernel thread, which is the same for all tasks of a worker. We note the fiber
// beside it, in a word of the object that libc uses only for robust and priority-inheriting mutexes
// (bits/struct_mutex.h), or not at all (bits/struct_rwlock.h). A thread that is not the owner may
// find an older fiber there. So the word counts only together with the kernel thread's number,
// which no other process's thread has.
#pragma once

#include "sched/worker.h"

#include <pthread.h>

namespace sennit::pthread {

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
        return thread_id() == worker.thread_id() && holder && holder != worker.current();
    }
    // Is the holder's fiber suspended, or this very thread's? A look at some moment: another
    // thread's fiber may come and go. So is a fiber whose worker idles on it.
    bool is_suspended(const sched::Worker &self) const;
};

} // namespace sennit::pthread
