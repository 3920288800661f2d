// SPDX-License-Identifier: Apache-2.0
// Semaphores: a task tries, and waits in the lot at the semaphore's address until somebody posts.
#include "pthread/bare.h"
#include "pthread/waits.h"

#include <cerrno>
#include <cstring>

namespace sennit::pthread {
namespace {

// Of sem_init's second argument, or sem_open: libc keeps that in the third word.
bool is_shared(const sem_t &semaphore) {
    int shared;
    std::memcpy(&shared, semaphore.__size + 8, sizeof shared);
    return shared != 0;
}

// Errors as libc returns them, in errno.
int suspend(sched::Worker &worker, sem_t &semaphore, const Deadline &until) {
    const std::int64_t look_again_ns = is_shared(semaphore) ? kLookAgainNs : -1;
    for (;;) {
        if (bare.sem_trywait(&semaphore) == 0)
            return 0;
        if (errno != EAGAIN)
            return -1;
        if (!until.valid() || until.over()) {
            errno = until.valid() ? ETIMEDOUT : EINVAL;
            return -1;
        }
        Parking parking("semaphore", &semaphore);
        parking.enter();
        if (bare.sem_trywait(&semaphore) == 0) {
            parking.leave();
            return 0;
        }
        parking.wait(worker, until, look_again_ns);
    }
}

} // namespace

int semaphore_wait(sem_t *semaphore, const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *semaphore, Deadline());
    return bare.sem_wait(semaphore);
}

int semaphore_clockwait(sem_t *semaphore, clockid_t clock, const timespec *time,
                        const void *caller) {
    if (sched::Worker *worker = worker_with_others(); worker && may_suspend(*worker, caller))
        return suspend(*worker, *semaphore, Deadline(clock, time));
    return bare.sem_clockwait(semaphore, clock, time);
}

int semaphore_trywait(sem_t *semaphore, const void *caller) {
    const int result = bare.sem_trywait(semaphore);
    if (result != 0 && errno == EAGAIN) {
        note_failed_try(caller);
        errno = EAGAIN;
    }
    return result;
}

int semaphore_post(sem_t *semaphore) {
    const int result = bare.sem_post(semaphore);
    wake(semaphore, 1);
    return result;
}

} // namespace sennit::pthread
