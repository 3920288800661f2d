/* SPDX-License-Identifier: Apache-2.0
 * test: # stock libomp crashes on a size that overflows
 * OpenMP 5.2, 18.13, 6.2: the memory management routines with predefined and with user-made
 * allocators; alignment, pool_size, fallback, pinned and the other traits; the default allocator.
 */
#include "check.h"
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static omp_allocator_handle_t make(int count, omp_alloctrait_t *traits) {
    return omp_init_allocator(omp_default_mem_space, count, traits);
}

static void predefined(void) {
    char *plain = omp_alloc(1000, omp_default_mem_alloc);
    CHECK(plain != NULL);
    memset(plain, 1, 1000);
    plain = omp_realloc(plain, 5000, omp_default_mem_alloc, omp_default_mem_alloc);
    for (int i = 0; i < 1000; ++i)
        CHECK_EQ(plain[i], 1);
    CHECK(omp_realloc(plain, 0, omp_null_allocator, omp_default_mem_alloc) == NULL);
    CHECK(omp_alloc(0, omp_default_mem_alloc) == NULL);
    volatile size_t half = SIZE_MAX / 2;
    CHECK(omp_calloc(half, 4, omp_default_mem_alloc) == NULL);
    CHECK(omp_alloc(2 * half, omp_default_mem_alloc) == NULL);
    omp_free(NULL, omp_default_mem_alloc);
    for (int i = omp_default_mem_alloc; i <= omp_thread_mem_alloc; ++i) {
        char *block = omp_aligned_calloc(512, 3, 100, (omp_allocator_handle_t)i);
        CHECK(block != NULL);
        CHECK_EQ((uintptr_t)block % 512, 0);
        for (int j = 0; j < 300; ++j)
            CHECK_EQ(block[j], 0);
        omp_free(block, omp_null_allocator);
    }
}

static void alignment(void) {
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
    const omp_allocator_handle_t aligned = make(1, traits);
    CHECK(aligned != omp_null_allocator);
#pragma omp parallel
    for (int i = 0; i < 100; ++i) {
        char *block = omp_alloc(100 + (size_t)i, aligned);
        CHECK(block != NULL);
        CHECK_EQ((uintptr_t)block % 256, 0);
        memset(block, 2, 100 + (size_t)i);
        block = omp_realloc(block, 1000, omp_null_allocator, omp_null_allocator);
        CHECK_EQ((uintptr_t)block % 256, 0);
        CHECK_EQ(block[99], 2);
        omp_free(block, aligned);
    }
    omp_destroy_allocator(aligned);
}

// Blocks never hold more than the pool; what is freed can be had again.
static void pool(void) {
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
    const omp_allocator_handle_t small = make(COUNT(traits), traits);
    CHECK(small != omp_null_allocator);
    for (int round = 0; round < 10; ++round) {
        char *block = omp_alloc(1, small);
        CHECK(block != NULL);
        block[0] = 7;
        // It may grow within the pool, in the place of what it was.
        block = omp_realloc(block, 2100, small, small);
        CHECK(block != NULL);
        block = omp_realloc(block, 2200, small, small);
        CHECK(block != NULL);
        CHECK_EQ(block[0], 7);
        CHECK(omp_alloc(2200, small) == NULL);
        CHECK(omp_realloc(block, 4090, small, small) == NULL);
        CHECK_EQ(block[0], 7);
        omp_free(block, small);
    }
    int had = 0;
#pragma omp parallel reduction(+ : had)
    for (int i = 0; i < 200; ++i) {
        char *block = omp_alloc(3000, small);
        if (!block)
            continue;
        ++had;
        memset(block, i, 3000);
        omp_free(block, small);
    }
    CHECK(had >= 1);
    void *again = omp_alloc(3000, small); // all was given back
    CHECK(again != NULL);
    omp_free(again, small);
    omp_destroy_allocator(small);
}

static void fallback(void) {
    omp_alloctrait_t second[] = {
        {omp_atk_alignment, 128}, {omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_null_fb}};
    const omp_allocator_handle_t other = make(COUNT(second), second);
    omp_alloctrait_t first[] = {{omp_atk_pool_size, 200},
                                {omp_atk_fallback, omp_atv_allocator_fb},
                                {omp_atk_fb_data, (uintptr_t)other}};
    const omp_allocator_handle_t one = make(COUNT(first), first);
    CHECK(one != omp_null_allocator && other != omp_null_allocator);
    char *block = omp_alloc(500, one);
    CHECK(block != NULL);
    CHECK_EQ((uintptr_t)block % 128, 0);
    CHECK(omp_alloc(500, one) == NULL);
    omp_free(block, one);
    omp_alloctrait_t usual[] = {{omp_atk_pool_size, 200},
                                {omp_atk_fallback, omp_atv_default_mem_fb}};
    const omp_allocator_handle_t lenient = make(COUNT(usual), usual);
    block = omp_alloc(100000, lenient);
    CHECK(block != NULL);
    memset(block, 3, 100000);
    omp_free(block, lenient);
    omp_destroy_allocator(lenient);
    omp_destroy_allocator(one);
    omp_destroy_allocator(other);
}

static void other_traits(void) {
    omp_alloctrait_t every[] = {
        {omp_atk_sync_hint, omp_atv_contended}, {omp_atk_access, omp_atv_all},
        {omp_atk_pinned, omp_atv_false},        {omp_atk_partition, omp_atv_environment},
        {omp_atk_fallback, omp_atv_default},    {omp_atk_pool_size, omp_atv_default}};
    const omp_allocator_handle_t made = make(COUNT(every), every);
    CHECK(made != omp_null_allocator);
    char *block = omp_calloc(10, 1000, made);
    CHECK(block != NULL);
    CHECK_EQ(block[9999], 0);
    omp_free(block, made);
    omp_destroy_allocator(made);
    const omp_allocator_handle_t plain = make(0, NULL);
    CHECK(plain != omp_null_allocator);
    omp_destroy_allocator(plain);
}

static void by_default(void) {
    CHECK_EQ(omp_get_default_allocator(), omp_default_mem_alloc);
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 1024}};
    const omp_allocator_handle_t aligned = make(1, traits);
    omp_set_default_allocator(aligned);
    CHECK_EQ(omp_get_default_allocator(), aligned);
#pragma omp parallel
    {
        CHECK_EQ(omp_get_default_allocator(), aligned);
        void *block = omp_alloc(10, omp_null_allocator);
        CHECK_EQ((uintptr_t)block % 1024, 0);
        omp_free(block, omp_null_allocator);
        // Each thread's own setting, from now on.
        omp_set_default_allocator(omp_large_cap_mem_alloc);
    }
    omp_set_default_allocator(omp_null_allocator);
    CHECK_EQ(omp_get_default_allocator(), omp_default_mem_alloc);
    omp_destroy_allocator(aligned);
}

int main(void) {
    predefined();
    alignment();
    pool();
    fallback();
    other_traits();
    by_default();
    return 0;
}
