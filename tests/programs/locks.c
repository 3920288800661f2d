/* SPDX-License-Identifier: Apache-2.0
 * test: sample="compiler == 'gcc'"
 * split, tool:
 * OpenMP 5.2, 18.9 (lock routines): mutual exclusion by simple and nestable locks; the test
 * routines never wait and report the nesting count.
 */
#include "check.h"

static void exclusion(omp_lock_t *lock) {
    long counter = 0, tries = 0;
#pragma omp parallel reduction(+ : tries)
    {
        for (int i = 0; i < 1000; ++i) {
            omp_set_lock(lock);
            counter += 1;
            omp_unset_lock(lock);
            if (omp_test_lock(lock)) {
                counter += 1;
                tries += 1;
                omp_unset_lock(lock);
            }
        }
    }
    CHECK_EQ(counter, 1000L * check_threads() + tries);
    CHECK(omp_test_lock(lock));
    CHECK(!omp_test_lock(lock));
    omp_unset_lock(lock);
    omp_destroy_lock(lock);
}

static void nesting(omp_nest_lock_t *lock) {
    long counter = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 500; ++i) {
            omp_set_nest_lock(lock);
            omp_set_nest_lock(lock);
            CHECK_EQ(omp_test_nest_lock(lock), 3);
            counter += 1;
            omp_unset_nest_lock(lock);
            omp_unset_nest_lock(lock);
            omp_unset_nest_lock(lock);
        }
    }
    CHECK_EQ(counter, 500L * check_threads());
    omp_destroy_nest_lock(lock);
}

/* A task owns a nestable lock, be it taken before the first region; the implicit task of a region
 * of one thread is another one. */
static void owner(omp_nest_lock_t *lock) {
    int depth = -1;
    omp_init_nest_lock(lock);
    CHECK_EQ(omp_test_nest_lock(lock), 1);
    CHECK_EQ(omp_test_nest_lock(lock), 2);
#pragma omp parallel if (0)
    depth = omp_test_nest_lock(lock);
#ifndef __clang__ /* the peer of clang's programs takes the thread for the owner */
    CHECK_EQ(depth, 0);
#endif
    if (depth != 0)
        omp_unset_nest_lock(lock);
    CHECK_EQ(omp_test_nest_lock(lock), 3);
    for (int i = 0; i < 3; ++i)
        omp_unset_nest_lock(lock);
    omp_destroy_nest_lock(lock);
}

int main(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest_lock;
    owner(&nest_lock);
    omp_init_lock(&lock);
    exclusion(&lock);
    omp_init_nest_lock(&nest_lock);
    nesting(&nest_lock);
#ifdef __clang__ /* libgomp 12 declares the routines with hints, but does not have them */
    static const omp_sync_hint_t hints[] = {
        omp_sync_hint_none, omp_sync_hint_uncontended, omp_sync_hint_contended,
        omp_sync_hint_nonspeculative,
        (omp_sync_hint_t)(omp_sync_hint_contended | omp_sync_hint_nonspeculative)};
    for (int h = 0; h < 5; ++h) {
        omp_init_lock_with_hint(&lock, hints[h]);
        exclusion(&lock);
        omp_init_nest_lock_with_hint(&nest_lock, hints[h]);
        nesting(&nest_lock);
    }
#endif
    return 0;
}
