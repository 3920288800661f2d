/* SPDX-License-Identifier: Apache-2.0
 * OpenMP 5.2, 18.13 (memory management routines): omp_alloc and omp_free with predefined and with
 * user-made allocators; the alignment trait is honoured.
 */
#include "check.h"
#include <string.h>

int main(void) {
    void *plain = omp_alloc(1000, omp_default_mem_alloc);
    CHECK(plain != NULL);
    memset(plain, 1, 1000);
    omp_free(plain, omp_default_mem_alloc);

    omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
    omp_allocator_handle_t aligned = omp_init_allocator(omp_default_mem_space, 1, traits);
    CHECK(aligned != omp_null_allocator);
#pragma omp parallel
    for (int i = 0; i < 100; ++i) {
        char *block = omp_alloc(100 + (size_t)i, aligned);
        CHECK(block != NULL);
        CHECK_EQ((uintptr_t)block % 256, 0);
        memset(block, 2, 100 + (size_t)i);
        omp_free(block, aligned);
    }
    omp_destroy_allocator(aligned);
    CHECK_EQ(omp_get_default_allocator(), omp_default_mem_alloc);
    omp_free(NULL, omp_default_mem_alloc);
    return 0;
}
