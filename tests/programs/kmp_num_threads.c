/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang
 * test: threads=2,2,2 OMP_THREAD_LIMIT=16
 *
 * num_threads with a list and with the modifier strict (OpenMP 6.0, 12.1.2), through the entry
 * points of LLVM's ABI: a list says how many threads nested regions have, and only inside its
 * region. */
#include "check.h"

int __kmpc_global_thread_num(void *);
void __kmpc_push_num_threads_list(void *, int, unsigned, int *);
void __kmpc_push_num_threads_strict(void *, int, int, int, const char *);
void __kmpc_push_num_threads_list_strict(void *, int, unsigned, int *, int, const char *);
#define ME NULL, __kmpc_global_thread_num(NULL)

static int sizes[3];

/* The sizes of three nested regions, seen from the first thread of each. */
static void measure(void) {
#pragma omp parallel
    if (omp_get_thread_num() == 0) {
        sizes[0] = omp_get_num_threads();
#pragma omp parallel
        if (omp_get_thread_num() == 0) {
            sizes[1] = omp_get_num_threads();
#pragma omp parallel
            if (omp_get_thread_num() == 0)
                sizes[2] = omp_get_num_threads();
        }
    }
}

static void expect(int first, int second, int third) {
    measure();
    CHECK_EQ(sizes[0], first);
    CHECK_EQ(sizes[1], second);
    CHECK_EQ(sizes[2], third);
}

int main(void) {
    int three_one[] = {3, 1}, three_two[] = {3, 2};
    expect(2, 2, 2);
    __kmpc_push_num_threads_list(ME, 2, three_one);
    expect(3, 1, 1);
    expect(2, 2, 2); /* the list is gone */
    __kmpc_push_num_threads_list_strict(ME, 2, three_two, 2, "must not be said");
    expect(3, 2, 2);
    __kmpc_push_num_threads_strict(ME, 4, 2, "must not be said");
    expect(4, 2, 2);

#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        __kmpc_push_num_threads_list(ME, 2, three_one);
#pragma omp parallel
        if (omp_get_thread_num() == 0) {
            CHECK_EQ(omp_get_num_threads(), 3);
#pragma omp parallel
            CHECK_EQ(omp_get_num_threads(), 1);
        }
        CHECK_EQ(omp_get_max_threads(), 2);
    }

    /* OMP_THREAD_LIMIT is 16; a warning leaves the program with what there is. */
    __kmpc_push_num_threads_strict(ME, 20, 1, "a warning that belongs to the test");
#pragma omp parallel
    CHECK(omp_get_num_threads() <= 16);
    return 0;
}
