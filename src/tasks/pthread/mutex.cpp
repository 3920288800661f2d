// SPDX-License-Identifier: Apache-2.0
#include "tasks/pthread/mutex.h"

#include "base/loaded_object.h"
#include "tasks/pthread/bare.h"
#include "tasks/sched/processors.h"
#include "wait/rows.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unwind.h>

namespace sennit::pthread {

bool Owner::is_suspended(const sched::Worker &self) const {
    const int thread_id = this->thread_id();
    if (thread_id == self.thread.id())
        return true;
    const sched::Fiber *const holder = fiber();
    if (!holder)
        return false;
    for (const sched::Worker &worker : sched::Worker::all())
        if (worker.thread.id() == thread_id)
            return holder != worker.current() || worker.activity.idle_since() != 0;
    return false;
}

namespace {

constexpr std::uint64_t kSpinUs = wait::whole_us(wait::kLock.idle_ns);

// A contended lock. attempt(): 0, EBUSY, or what else the try has returned. block(deadline): the
// same with ETIMEDOUT, it blocks the kernel thread.
struct Contended {
    sched::Worker &worker;
    const char *what;
    const void *lock;
    const Owner &owner;
    const Deadline &until;
    const void *caller;

    template <class Attempt, class Block>
    int acquire(Attempt attempt, Block block, std::int64_t look_again_ns(const void *)) const {
        if (!until.valid())
            return EINVAL;
        if (!may_suspend(worker))
            return block(until);
        if (const int result = spin(attempt); result != EBUSY)
            return result;
        if (const int result = wait_shortly(block); result != ETIMEDOUT)
            return result;
        const bool in_program = is_program_code(caller);
        while (!until.over()) {
            if (in_program || owner.is_suspended(worker)) {
                Parking parking(what, lock, reinterpret_cast<const void *const *>(owner.word));
                parking.enter();
                if (const int result = attempt(); result != EBUSY) {
                    parking.leave();
                    return result;
                }
                parking.wait(worker, until, look_again_ns(lock));
            } else {
                if (const int result = block_for(block, wait::kSharedObject.naps.longest_ns);
                    result != ETIMEDOUT)
                    return result;
            }
            if (const int result = attempt(); result != EBUSY)
                return result;
        }
        return ETIMEDOUT;
    }

  private:
    // A holder that is not suspended mostly unlocks soon. If the task was suspended, its thread
    // would begin the next task, which would wait for the same lock: one after the other would be
    // bound to this thread, and no other thread could take them any more. Of readers nobody knows
    // whether they are suspended.
    template <class Block>
    int wait_shortly(Block block) const {
        if (owner.thread_id() == 0 || owner.is_suspended(worker))
            return ETIMEDOUT;
        return block_for(block, wait::kLock.naps.shortest_ns);
    }

    template <class Block>
    int block_for(Block block, std::int64_t most_ns) const {
        timespec soon;
        const int result = block(Deadline::in_ns(std::min(until.left_ns(), most_ns), soon));
        return result == EINVAL ? ETIMEDOUT
                                : result; // old systems: PTHREAD_PRIO_INHERIT, this clock
    }

    template <class Attempt>
    int spin(Attempt attempt) const {
        constexpr int kPause = 8; // in cpu_relax()
        if (sched::crowded() || owner.is_suspended(worker))
            return attempt();
        for (const std::uint64_t end = ticks() + kSpinUs * sched::ticks_per_us(); ticks() < end;) {
            for (int i = 0; i < kPause; ++i)
                cpu_relax();
            if (const int result = attempt(); result != EBUSY)
                return result;
        }
        return EBUSY;
    }
};

// ---- mutexes ---------------------------------------------------------------------------------

int kind_of(const pthread_mutex_t &mutex) {
    return __atomic_load_n(&mutex.__data.__kind, __ATOMIC_RELAXED);
}

bool asks_for_owner(const pthread_mutex_t &mutex) {
    constexpr int kTypes = 3;
    const int type = kind_of(mutex) & kTypes;
    return type == PTHREAD_MUTEX_RECURSIVE_NP || type == PTHREAD_MUTEX_ERRORCHECK_NP;
}

int noted(int result, const Owner &owner, const sched::Worker &worker) {
    if (result == 0)
        owner.note(worker.current());
    return result;
}

std::int64_t mutex_look_again(const void *lock) {
    constexpr int kShared = 128; // between processes
    const auto &mutex = *static_cast<const pthread_mutex_t *>(lock);
    return (kind_of(mutex) & kShared) || unlocked_by_libc(mutex)
               ? wait::kSharedObject.naps.longest_ns
               : -1;
}

int block_on(pthread_mutex_t &mutex, const Deadline &until) {
    return until.for_ever() ? bare.pthread_mutex_lock(&mutex)
                            : bare.pthread_mutex_clocklock(&mutex, until.clock(), until.time());
}

SENNIT_NOINLINE int lock_beside_others(sched::Worker &worker, pthread_mutex_t &mutex,
                                       const Deadline &until, const void *caller) {
    const Owner owner = Owner::of(mutex);
    const bool asks = asks_for_owner(mutex);
    if (asks && owner.thread_id() == worker.thread.id() && !owner.is_another_task(worker))
        return block_on(mutex, until); // it does not: once more, or EDEADLK
    const auto attempt = [&] {
        return asks && owner.is_another_task(worker) ? EBUSY : bare.pthread_mutex_trylock(&mutex);
    };
    // To libc, another task of this thread is the owner: it would be let in.
    const auto block = [&](const Deadline &limit) {
        return asks && owner.is_another_task(worker) ? EDEADLK : block_on(mutex, limit);
    };
    int result = attempt();
    if (result == EBUSY)
        result = Contended{worker, "pthread mutex", &mutex, owner, until, caller}.acquire(
            attempt, block, mutex_look_again);
    return noted(result, owner, worker);
}

// Of a mutex that asks: is the caller allowed to, and is it the last unlock of a recursion?
int release_owner(const Owner &owner, const pthread_mutex_t &mutex, const sched::Worker &worker) {
    if (owner.is_another_task(worker))
        return EPERM;
    if (owner.thread_id() == worker.thread.id() && mutex.__data.__count <= 1)
        owner.note(nullptr);
    return 0;
}

} // namespace

int mutex_lock(pthread_mutex_t *mutex, const void *caller) {
    sched::Worker *const worker = sched::Worker::self();
    if (SENNIT_LIKELY(!worker))
        return bare.pthread_mutex_lock(mutex);
    if (SENNIT_UNLIKELY(worker->has_parked()))
        return lock_beside_others(*worker, *mutex, Deadline(), caller);
    return noted(bare.pthread_mutex_lock(mutex), Owner::of(*mutex), *worker);
}

int mutex_clocklock(pthread_mutex_t *mutex, const Deadline &until, const void *caller) {
    sched::Worker *const worker = sched::Worker::self();
    if (!worker)
        return block_on(*mutex, until);
    if (worker->has_parked())
        return lock_beside_others(*worker, *mutex, until, caller);
    return noted(block_on(*mutex, until), Owner::of(*mutex), *worker);
}

int mutex_trylock(pthread_mutex_t *mutex, const void *caller) {
    sched::Worker *const worker = sched::Worker::self();
    if (SENNIT_LIKELY(!worker))
        return bare.pthread_mutex_trylock(mutex);
    const Owner owner = Owner::of(*mutex);
    const int result = asks_for_owner(*mutex) && owner.is_another_task(*worker)
                           ? EBUSY
                           : bare.pthread_mutex_trylock(mutex);
    if (result == EBUSY)
        note_failed_try(caller);
    return noted(result, owner, *worker);
}

int mutex_unlock(pthread_mutex_t *mutex) {
    if (const sched::Worker *worker = sched::Worker::self(); SENNIT_UNLIKELY(worker != nullptr)) {
        const Owner owner = Owner::of(*mutex);
        if (SENNIT_LIKELY(!asks_for_owner(*mutex)))
            owner.note(nullptr);
        else if (const int error = release_owner(owner, *mutex, *worker))
            return error;
    }
    const int result = bare.pthread_mutex_unlock(mutex);
    wake(mutex, 1);
    return result;
}

// ---- read-write locks ------------------------------------------------------------------------

namespace {

std::int64_t rwlock_look_again(const void *lock) {
    return static_cast<const pthread_rwlock_t *>(lock)->__data.__shared
               ? wait::kSharedObject.naps.longest_ns
               : -1;
}

int block_for_reading(pthread_rwlock_t &lock, const Deadline &until) {
    return until.for_ever() ? bare.pthread_rwlock_rdlock(&lock)
                            : bare.pthread_rwlock_clockrdlock(&lock, until.clock(), until.time());
}

int block_for_writing(pthread_rwlock_t &lock, const Deadline &until) {
    return until.for_ever() ? bare.pthread_rwlock_wrlock(&lock)
                            : bare.pthread_rwlock_clockwrlock(&lock, until.clock(), until.time());
}

template <class Attempt, class Block>
int rwlock_beside_others(sched::Worker &worker, pthread_rwlock_t &lock, const Deadline &until,
                         const void *caller, Attempt try_lock, Block block) {
    const Owner owner = Owner::of(lock);
    if (owner.thread_id() == worker.thread.id() && !owner.is_another_task(worker))
        return block(lock, until); // it does not: EDEADLK
    const auto attempt = [&] { return try_lock(&lock); };
    const int result = attempt();
    if (result != EBUSY)
        return result;
    return Contended{worker, "read-write lock", &lock, owner, until, caller}.acquire(
        attempt, [&](const Deadline &limit) { return block(lock, limit); }, rwlock_look_again);
}

} // namespace

int rwlock_rdlock(pthread_rwlock_t *lock, const Deadline &until, const void *caller) {
    if (sched::Worker *worker = worker_with_others())
        return rwlock_beside_others(*worker, *lock, until, caller, bare.pthread_rwlock_tryrdlock,
                                    block_for_reading);
    return block_for_reading(*lock, until);
}

int rwlock_wrlock(pthread_rwlock_t *lock, const Deadline &until, const void *caller) {
    sched::Worker *const worker = sched::Worker::self();
    if (SENNIT_LIKELY(!worker))
        return block_for_writing(*lock, until);
    const int result = worker->has_parked()
                           ? rwlock_beside_others(*worker, *lock, until, caller,
                                                  bare.pthread_rwlock_trywrlock, block_for_writing)
                           : block_for_writing(*lock, until);
    return noted(result, Owner::of(*lock), *worker);
}

int rwlock_tryrdlock(pthread_rwlock_t *lock, const void *caller) {
    const int result = bare.pthread_rwlock_tryrdlock(lock);
    if (result == EBUSY)
        note_failed_try(caller);
    return result;
}

int rwlock_trywrlock(pthread_rwlock_t *lock, const void *caller) {
    const int result = bare.pthread_rwlock_trywrlock(lock);
    if (result == EBUSY)
        note_failed_try(caller);
    const sched::Worker *const worker = sched::Worker::self();
    return worker ? noted(result, Owner::of(*lock), *worker) : result;
}

int rwlock_unlock(pthread_rwlock_t *lock) {
    if (const sched::Worker *worker = sched::Worker::self(); SENNIT_UNLIKELY(worker != nullptr))
        if (const Owner owner = Owner::of(*lock); owner.thread_id() == worker->thread.id())
            owner.note(nullptr);
    const int result = bare.pthread_rwlock_unlock(lock);
    wake(lock);
    return result;
}

// ---- spin locks ------------------------------------------------------------------------------

int spin_lock(pthread_spinlock_t *lock, const void *caller) {
    constexpr int kTries = 64;
    sched::Worker *const worker = worker_with_others();
    if (SENNIT_LIKELY(!worker))
        return bare.pthread_spin_lock(lock);
    if (bare.pthread_spin_trylock(lock) == 0)
        return 0;
    if (!may_suspend(*worker, caller))
        return bare.pthread_spin_lock(lock);
    for (int tries = 1; bare.pthread_spin_trylock(lock) != 0; ++tries)
        if (tries % kTries == 0)
            worker->yield(); // the holder may be one of ours
        else
            cpu_relax();
    return 0;
}

int spin_trylock(pthread_spinlock_t *lock, const void *caller) {
    const int result = bare.pthread_spin_trylock(lock);
    if (result == EBUSY)
        note_failed_try(caller);
    return result;
}

namespace {

enum class Code { program, others, compilers_library, ours, unknown };

Code code_at(const void *address) {
    const link_map *const object = object_of(address);
    if (!object)
        return Code::unknown; // made at run time
    if (object == object_of(reinterpret_cast<const void *>(is_program_code)))
        return Code::ours;
    if (!*object->l_name)
        return Code::program;
    const char *const slash = std::strrchr(object->l_name, '/');
    const char *const name = slash ? slash + 1 : object->l_name;
    for (const char *start :
         {"libstdc++.", "libc++", "libgfortran.", "libasan.", "libclang_rt.asan"})
        if (std::strncmp(name, start, std::strlen(start)) == 0)
            return Code::compilers_library;
    if (std::strncmp(name, "libsennit-balance-", 18) == 0) // made to be called in tasks
        return Code::program;
    return DynamicSection(*object).needs(is_openmp_library) ? Code::program : Code::others;
}

// The first frame above the compiler's library, and above ours, who look.
Code code_above_library() {
    Code code = Code::compilers_library;
    _Unwind_Backtrace(
        [](_Unwind_Context *frame, void *result) {
            auto &found = *static_cast<Code *>(result);
            found = code_at(reinterpret_cast<const void *>(_Unwind_GetIP(frame) - 1));
            return found == Code::compilers_library || found == Code::ours ? _URC_NO_REASON
                                                                           : _URC_END_OF_STACK;
        },
        &code);
    return code;
}

} // namespace

bool is_program_code(const void *return_address) {
    Code code = code_at(static_cast<const char *>(return_address) - 1);
    if (code == Code::compilers_library)
        code = code_above_library();
    return code == Code::program;
}

} // namespace sennit::pthread
