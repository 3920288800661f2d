/* SPDX-License-Identifier: Apache-2.0
 * test, split: # stock libomp takes the thread for the owner
 * OpenMP 5.2, 18.9: a lock belongs to the task that set it, not to the thread: another task of the
 * same thread does not own a nestable lock, and many tasks exclude each other.
 */
#include "check.h"

int main(void) {
    enum { tasks = 500, locks = 7 };
    omp_lock_t lock[locks];
    omp_nest_lock_t nest_lock;
    int count[locks] = {0}, refused = 0, nested = 0;
    for (int i = 0; i < locks; ++i)
        omp_init_lock(&lock[i]);
    omp_init_nest_lock(&nest_lock);
#pragma omp parallel
#pragma omp single
    {
        for (int t = 0; t < tasks; ++t) {
#pragma omp task firstprivate(t)
            {
                omp_set_lock(&lock[t % locks]);
                count[t % locks] += 1;
                omp_unset_lock(&lock[t % locks]);
            }
        }
#pragma omp taskwait
        omp_set_nest_lock(&nest_lock);
#pragma omp task if (0) shared(refused, nest_lock)
        refused = omp_test_nest_lock(&nest_lock) == 0;
        omp_unset_nest_lock(&nest_lock);
        for (int t = 0; t < 100; ++t) {
#pragma omp task shared(nested)
            {
                omp_set_nest_lock(&nest_lock);
                omp_set_nest_lock(&nest_lock);
                nested += 1;
                omp_unset_nest_lock(&nest_lock);
                omp_unset_nest_lock(&nest_lock);
            }
        }
    }
    for (int i = 0; i < locks; ++i) {
        CHECK_EQ(count[i], tasks / locks + (i < tasks % locks));
        omp_destroy_lock(&lock[i]);
    }
    CHECK(refused);
    CHECK_EQ(nested, 100);
    omp_destroy_nest_lock(&nest_lock);
    return 0;
}
