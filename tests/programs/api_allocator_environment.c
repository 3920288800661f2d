// SPDX-License-Identifier: Apache-2.0
// test: OMP_ALLOCATOR=omp_default_mem_space:alignment=1024,pool_size=4096,fallback=null_fb # gcc
//     12's libgomp knows no traits there
// OpenMP 5.2, 21.5.1: OMP_ALLOCATOR may describe an allocator by a memory space and traits. Run
// with OMP_ALLOCATOR=omp_default_mem_space:alignment=1024,pool_size=4096,fallback=null_fb.
#include "check.h"

int main(void) {
    const omp_allocator_handle_t given = omp_get_default_allocator();
    CHECK(given != omp_default_mem_alloc && given != omp_null_allocator);
#pragma omp parallel
    CHECK_EQ(omp_get_default_allocator(), given);
    void *block = omp_alloc(1500, omp_null_allocator);
    CHECK(block != NULL);
    CHECK_EQ((uintptr_t)block % 1024, 0);
    CHECK(omp_alloc(3000, omp_null_allocator) == NULL);
    omp_free(block, omp_null_allocator);
    return 0;
}
