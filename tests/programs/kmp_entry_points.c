// SPDX-License-Identifier: Apache-2.0
// build: compiler=clang
// test:
// Entry points of LLVM's ABI that its compilers emit seldom, called as they would: all memory as
// address -1, a task without a routine, the task of `target nowait`, older task reductions, a loop
// with schedule(simd : guided), and kmp_ routines.
#include "check.h"
#include "kmp_tasks.h"
#include <stdlib.h>

typedef struct {
    void *shared;
    size_t size;
    void *init, *finish, *combine;
    uint32_t flags;
} Reduction;

Task *__kmpc_omp_target_task_alloc(void *, int, int, size_t, size_t, int (*)(int, Task *), int64_t);
void __kmpc_taskgroup(void *, int);
void __kmpc_end_taskgroup(void *, int);
void *__kmpc_task_reduction_init(int, int, Reduction *);
void *__kmpc_task_reduction_get_th_data(int, void *, void *);
void __kmpc_dispatch_init_8(void *, int, int, int64_t, int64_t, int64_t, int64_t);
int __kmpc_dispatch_next_8(void *, int, int *, int64_t *, int64_t *, int64_t *);
void *kmp_malloc(size_t);
void *kmp_aligned_malloc(size_t, size_t);
void *kmp_calloc(size_t, size_t);
void *kmp_realloc(void *, size_t);
void kmp_free(void *);
void kmp_set_blocktime(int);
int kmp_get_blocktime(void);

static int running, most, order[3];

static int busy(int gtid, Task *task) {
    (void)gtid;
    int now;
#pragma omp atomic capture
    now = ++running;
    if (now > most)
        most = now;
    for (volatile int i = 0; i < 100000; ++i)
        ;
#pragma omp atomic
    --running;
    *task->cell = 1;
    return 0;
}

// Three tasks on different addresses; the middle one is ordered with both by omp_all_memory.
static void all_memory(void) {
    static int x, y;
#pragma omp parallel
#pragma omp single
    {
        const int gtid = __kmpc_global_thread_num(NULL);
        Depend depends[3] = {{(intptr_t)&x, 0, 3}, {-1, 0, 2}, {(intptr_t)&y, 0, 3}};
        for (int i = 0; i < 3; ++i) {
            Task *task = __kmpc_omp_task_alloc(NULL, gtid, 1, sizeof(Task), 0, busy);
            task->cell = &order[i];
            __kmpc_omp_task_with_deps(NULL, gtid, task, 1, &depends[i], 0, NULL);
        }
        // taskwait nowait depend(in: x)
        Task *empty = __kmpc_omp_task_alloc(NULL, gtid, 1, sizeof(Task), 0, NULL);
        Depend in = {(intptr_t)&x, 0, 1};
        __kmpc_omp_task_with_deps(NULL, gtid, empty, 1, &in, 0, NULL);
        Task *target = __kmpc_omp_target_task_alloc(NULL, gtid, 1, sizeof(Task), 0, busy, -1);
        static int target_ran;
        target->cell = &target_ran;
#pragma omp taskwait
        __kmpc_omp_task(NULL, gtid, target);
#pragma omp taskwait
        CHECK_EQ(target_ran, 1);
    }
    CHECK_EQ(order[0] + order[1] + order[2], 3);
    CHECK_EQ(most, 1);
}

static void zero(void *private_copy) {
    *(long *)private_copy = 0;
}
static void add(void *into, void *from) {
    *(long *)into += *(long *)from;
}

static void old_reduction(void) {
    long sum = 5;
#pragma omp parallel
#pragma omp single
    {
        const int gtid = __kmpc_global_thread_num(NULL);
        Reduction input = {&sum, sizeof sum, (void *)zero, NULL, (void *)add, 0};
        __kmpc_taskgroup(NULL, gtid);
        void *group = __kmpc_task_reduction_init(gtid, 1, &input);
        for (int i = 1; i <= 100; ++i) {
#pragma omp task firstprivate(i, group)
            {
                const int me = __kmpc_global_thread_num(NULL);
                *(long *)__kmpc_task_reduction_get_th_data(me, group, &sum) += i;
            }
        }
        __kmpc_end_taskgroup(NULL, gtid);
    }
    CHECK_EQ(sum, 5 + 5050);
}

static void guided_simd(void) {
    enum { guided_simd = 46, width = 4, n = 1002 };
    long total = 0;
#pragma omp parallel reduction(+ : total)
    {
        const int gtid = __kmpc_global_thread_num(NULL);
        int last;
        int64_t first, end, step;
        __kmpc_dispatch_init_8(NULL, gtid, guided_simd, 0, n - 1, 1, width);
        while (__kmpc_dispatch_next_8(NULL, gtid, &last, &first, &end, &step)) {
            CHECK_EQ(first % width, 0);
            CHECK(end == n - 1 || (end + 1) % width == 0);
            total += end - first + 1;
        }
    }
    CHECK_EQ(total, n);
}

static void routines(void) {
    char *block = kmp_malloc(10);
    block[9] = 1;
    block = kmp_realloc(block, 1000);
    CHECK_EQ(block[9], 1);
    kmp_free(block);
    int *zeros = kmp_calloc(100, sizeof(int));
    CHECK_EQ(zeros[99], 0);
    kmp_free(zeros);
    void *aligned = kmp_aligned_malloc(100, 256);
    CHECK_EQ((uintptr_t)aligned % 256, 0);
    kmp_free(aligned);
    kmp_set_blocktime(7);
    CHECK_EQ(kmp_get_blocktime(), 7);

    // The pool counts what stands around a block, so two halves do not fit.
    omp_alloctrait_t traits[2] = {{omp_atk_pool_size, 1 << 20},
                                  {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 2, traits);
    void *half = omp_alloc(1 << 19, pool);
    CHECK(half != NULL);
    CHECK(omp_alloc(1 << 19, pool) == NULL);
    omp_free(half, pool);
    omp_destroy_allocator(pool);
}

int main(void) {
    all_memory();
    old_reduction();
    guided_simd();
    routines();
    return 0;
}
