// SPDX-License-Identifier: Apache-2.0
// Which lock guards what, said so that Clang can check it (-Wthread-safety, `./dev lint`). Other
// compilers see nothing.
//
// A member says SENNIT_GUARDED_BY(lock), a function that is called with the lock held says
// SENNIT_REQUIRES(lock). A function that takes the lock itself may say SENNIT_EXCLUDES(lock).
//
// Limits of the analysis: it looks at one function at a time, and knows a lock by the expression
// that names it. So it does not know who calls a lambda; there `lock.assert_held()` says what its
// caller holds. The links of a list whose lock belongs to another object have a comment instead.
// Constructors and destructors are not checked.
#pragma once

#include <pthread.h>
#include <time.h>

#if defined(__clang__)
#define SENNIT_CHECKED_BY_CLANG(attribute) __attribute__((attribute))
#else
#define SENNIT_CHECKED_BY_CLANG(attribute)
#endif

// Of a class: its objects are locks; its objects hold a lock as long as they live.
#define SENNIT_IS_LOCK SENNIT_CHECKED_BY_CLANG(capability("lock"))
#define SENNIT_IS_GUARD SENNIT_CHECKED_BY_CLANG(scoped_lockable)

// Of a variable, and of what a pointer points to.
#define SENNIT_GUARDED_BY(lock) SENNIT_CHECKED_BY_CLANG(guarded_by(lock))
#define SENNIT_POINTS_TO_GUARDED_BY(lock) SENNIT_CHECKED_BY_CLANG(pt_guarded_by(lock))

// Of a function. Without an argument: the object itself.
#define SENNIT_REQUIRES(...) SENNIT_CHECKED_BY_CLANG(requires_capability(__VA_ARGS__))
#define SENNIT_EXCLUDES(...) SENNIT_CHECKED_BY_CLANG(locks_excluded(__VA_ARGS__))
#define SENNIT_ACQUIRE(...) SENNIT_CHECKED_BY_CLANG(acquire_capability(__VA_ARGS__))
#define SENNIT_TRY_ACQUIRE(...) SENNIT_CHECKED_BY_CLANG(try_acquire_capability(__VA_ARGS__))
#define SENNIT_RELEASE(...) SENNIT_CHECKED_BY_CLANG(release_capability(__VA_ARGS__))
#define SENNIT_ASSERT_HELD(...) SENNIT_CHECKED_BY_CLANG(assert_capability(__VA_ARGS__))
#define SENNIT_RETURNS_LOCK(lock) SENNIT_CHECKED_BY_CLANG(lock_returned(lock))

// Of a function that the analysis cannot follow; a comment says why.
#define SENNIT_NOT_CHECKED SENNIT_CHECKED_BY_CLANG(no_thread_safety_analysis)
// Of a handler of fork(): the one before takes locks, the ones after give them back.
#define SENNIT_ACROSS_FORK SENNIT_NOT_CHECKED

// Of a lock: a thread that holds both has taken this one first.
#define SENNIT_BEFORE(...) SENNIT_CHECKED_BY_CLANG(acquired_before(__VA_ARGS__))

namespace sennit {

// A condition for waits that may end at a time, by CLOCK_MONOTONIC. (pthread_cond_clockwait, which
// takes any condition, came with glibc 2.30.)
class TimedCondition {
  public:
    constexpr TimedCondition() = default;
    TimedCondition(const TimedCondition &) = delete;
    TimedCondition &operator=(const TimedCondition &) = delete;

    // Before anybody waits, and before the thread that will is started.
    void prepare() {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&condition_, &attributes);
        pthread_condattr_destroy(&attributes);
    }
    void signal() { pthread_cond_signal(&condition_); }

  private:
    friend class Mutex;
    pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

// A mutex of libc's. For short sections among threads see base/spin.h.
class SENNIT_IS_LOCK Mutex {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    void lock() SENNIT_ACQUIRE() { pthread_mutex_lock(&mutex_); }
    void unlock() SENNIT_RELEASE() { pthread_mutex_unlock(&mutex_); }
    void assert_held() const SENNIT_ASSERT_HELD() {}

    // The caller has it again when these return. `end` is a time of CLOCK_MONOTONIC.
    void wait(pthread_cond_t &change) SENNIT_REQUIRES(this) { pthread_cond_wait(&change, &mutex_); }
    void wait(TimedCondition &change) SENNIT_REQUIRES(this) { wait(change.condition_); }
    int wait_until(TimedCondition &change, const timespec &end) SENNIT_REQUIRES(this) {
        return pthread_cond_timedwait(&change.condition_, &mutex_, &end);
    }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// Holds a lock as long as it lives.
struct AlreadyHeld {};
template <class Lock>
class SENNIT_IS_GUARD Guard {
  public:
    explicit Guard(Lock &lock) SENNIT_ACQUIRE(lock) : lock_(lock) { lock.lock(); }
    // After lock.try_lock().
    Guard(Lock &lock, AlreadyHeld) SENNIT_REQUIRES(lock) : lock_(lock) {}
    ~Guard() SENNIT_RELEASE() { lock_.unlock(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    Lock &lock_;
};

} // namespace sennit
