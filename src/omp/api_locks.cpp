// SPDX-License-Identifier: Apache-2.0
// Lock routines (OpenMP 5.2, 18.9). GCC's omp_lock_t is 4 bytes, Clang's 8: the mutex is in the
// first four. GCC's omp_nest_lock_t is 16 bytes, Clang's 8: the variable holds a pointer.
#include "omp/api.h"

#include "base/message.h"
#include "omp/sync.h"

#include <cstdlib>
#include <new>

using namespace sennit;
using omp::Mutex;
using omp::NestMutex;

namespace {

void init(void *lock) {
    new (lock) Mutex;
}
void destroy(void *) {}
void set(void *lock) {
    static_cast<Mutex *>(lock)->lock();
}
void unset(void *lock) {
    static_cast<Mutex *>(lock)->unlock();
}
int test(void *lock) {
    return static_cast<Mutex *>(lock)->try_lock();
}

NestMutex &nested(void *lock) {
    return **static_cast<NestMutex **>(lock);
}

void init_nest(void *lock) {
    void *memory = std::malloc(sizeof(NestMutex));
    if (!memory)
        fatal("no memory for a nestable lock (%zu bytes)", sizeof(NestMutex));
    *static_cast<NestMutex **>(lock) = new (memory) NestMutex;
}
void destroy_nest(void *lock) {
    std::free(&nested(lock));
}
void set_nest(void *lock) {
    omp::nest_lock(nested(lock));
}
void unset_nest(void *lock) {
    omp::nest_unlock(nested(lock));
}
int test_nest(void *lock) {
    return omp::nest_try_lock(nested(lock));
}

} // namespace

// SENNIT_LOCK(type, routine, function): a routine of one argument and its Fortran twin, whose
// argument is the lock variable's address as well. gfortran keeps 8-byte nest locks with the same
// routines.
#define SENNIT_LOCK(type, routine, function)                                                       \
    SENNIT_API type routine(void *lock) {                                                          \
        return function(lock);                                                                     \
    }                                                                                              \
    SENNIT_API type routine##_(void *lock) {                                                       \
        return function(lock);                                                                     \
    }
// Hints change nothing: one kind of lock serves all.
#define SENNIT_LOCK_HINT(routine, function)                                                        \
    SENNIT_API void routine(void *lock, int) {                                                     \
        function(lock);                                                                            \
    }                                                                                              \
    SENNIT_API void routine##_(void *lock, const int *) {                                          \
        function(lock);                                                                            \
    }

SENNIT_LOCK(void, omp_init_lock, init)
SENNIT_LOCK(void, omp_destroy_lock, destroy)
SENNIT_LOCK(void, omp_set_lock, set)
SENNIT_LOCK(void, omp_unset_lock, unset)
SENNIT_LOCK(int, omp_test_lock, test)
SENNIT_LOCK_HINT(omp_init_lock_with_hint, init)
SENNIT_LOCK(void, omp_init_nest_lock, init_nest)
SENNIT_LOCK(void, omp_destroy_nest_lock, destroy_nest)
SENNIT_LOCK(void, omp_set_nest_lock, set_nest)
SENNIT_LOCK(void, omp_unset_nest_lock, unset_nest)
SENNIT_LOCK(int, omp_test_nest_lock, test_nest)
SENNIT_LOCK_HINT(omp_init_nest_lock_with_hint, init_nest)
