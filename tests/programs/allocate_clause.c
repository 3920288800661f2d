// SPDX-License-Identifier: Apache-2.0
// test:
// OpenMP 5.2, 6.6, 6.5: the allocate clause gives private copies memory of the named allocator, on
// parallel, worksharing, task and taskloop constructs; the allocate directive does for a variable.
#include "check.h"

enum { most = 64 };

static void private_copies(omp_allocator_handle_t aligned) {
    int value = 3, array[10] = {0}, sum = 0;
    array[9] = 5;
#pragma omp parallel firstprivate(value, array) allocate(aligned : value, array) reduction(+ : sum)
    {
        CHECK_EQ((uintptr_t)&value % most, 0);
        CHECK_EQ((uintptr_t)array % most, 0);
        value += array[9];
        CHECK_EQ(value, 8);
        sum += 1;
    }
    CHECK_EQ(value, 3);
#pragma omp parallel
#pragma omp for private(value) allocate(aligned : value)
    for (int i = 0; i < 100; ++i) {
        value = i;
        CHECK_EQ((uintptr_t)&value % most, 0);
    }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; ++i) {
        value = i;
#pragma omp task firstprivate(value) allocate(aligned : value) shared(sum)
        {
#pragma omp atomic
            sum += value;
        }
    }
    CHECK_EQ(sum, check_threads() + 190);
}

// gcc 12 has the directive in Fortran alone.
#ifdef __clang__
static void directive(void) {
    int kept[8];
#pragma omp allocate(kept) allocator(omp_default_mem_alloc)
    for (int i = 0; i < 8; ++i)
        kept[i] = i;
    CHECK_EQ(kept[7], 7);
}
#else
static void directive(void) {}
#endif

int main(void) {
    omp_set_dynamic(0);
    omp_alloctrait_t traits[] = {{omp_atk_alignment, most}};
    const omp_allocator_handle_t aligned = omp_init_allocator(omp_default_mem_space, 1, traits);
    CHECK(aligned != omp_null_allocator);
    private_copies(aligned);
    omp_destroy_allocator(aligned);
    directive();
    return 0;
}
