// SPDX-License-Identifier: Apache-2.0
// Lock routines (OpenMP 5.2, 18.9) under the standard's names; see lock_routines.h.
#include "omp/api/api.h"

#include "omp/sync/lock_routines.h"

using namespace sennit;
using namespace sennit::omp::routine;

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
    SENNIT_API void routine(void *lock, int hint) {                                                \
        function(lock, static_cast<unsigned>(hint));                                               \
    }                                                                                              \
    SENNIT_API void routine##_(void *lock, const int *hint) {                                      \
        function(lock, static_cast<unsigned>(*hint));                                              \
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
