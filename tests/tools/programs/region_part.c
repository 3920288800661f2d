/* SPDX-License-Identifier: Apache-2.0
 * part: # own_runtime_test.py builds it
 * For own_runtime_test.py: a library with OpenMP in it, of either compiler. Code of one library is
 * called in a region of another: with one runtime it sees the region.
 */
#include <omp.h>

int sees_region_of_two(void) {
    return omp_in_parallel() && omp_get_num_threads() == 2 && omp_get_level() == 1;
}

int region_of_two(int (*look)(void)) {
    int ok = 1;
#pragma omp parallel num_threads(2) reduction(&& : ok)
    ok = ok && look();
    return ok;
}
