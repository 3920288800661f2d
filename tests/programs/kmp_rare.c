/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang -- -lpthread
 * test: # stock libomp numbers no tasks
 *
 * Entry points of LLVM's ABI that clang 19 does not emit, but others do or did: sections, proxy
 * tasks, static chunks of a team, arrays of threadprivate objects, numbers of tasks, taskgraphs;
 * and a task's successors. */
#define _GNU_SOURCE
#include "check.h"
#include "kmp_tasks.h"
#include <dlfcn.h>
#include <pthread.h>

void __kmpc_barrier(void *, int);
#define ME NULL, __kmpc_global_thread_num(NULL)

/* ---- sections ---- */

unsigned __kmpc_sections_init(void *, int);
unsigned __kmpc_next_section(void *, int, int);
void __kmpc_end_sections(void *, int);

static void sections(void) {
    enum { rounds = 20, count = 7 };
    static int runs[rounds][count];
#pragma omp parallel
    if (omp_get_num_threads() > 1) { /* a thread alone does without */
        for (int round = 0; round < rounds; ++round) {
            __kmpc_sections_init(ME);
            for (unsigned section; (section = __kmpc_next_section(ME, count)) < count;) {
#pragma omp atomic
                ++runs[round][section];
            }
            __kmpc_end_sections(ME);
            __kmpc_barrier(ME);
        }
    }
    for (int round = 0; round < rounds; ++round)
        for (int section = 0; section < count; ++section)
            CHECK_EQ(runs[round][section], check_threads() > 1);
}

/* ---- tasks ---- */

typedef struct Edges {
    void *node;
    struct Edges *next;
} Edges;

void __kmpc_proxy_task_completed(int, Task *);
void __kmpc_proxy_task_completed_ooo(Task *);
Edges *__kmpc_task_get_successors(Task *);
void *__kmpc_task_get_depnode(Task *);
enum { tied = 1, proxy = 16, in = 1, out = 2 };

static int nothing(int gtid, Task *task) {
    (void)gtid, (void)task;
    return 0;
}
static int count_up(int gtid, Task *task) {
    (void)gtid;
#pragma omp atomic
    ++*task->cell;
    return 0;
}

/* One edge from a task to another, however many dependences order them. */
static void successors(void) {
    int x, y, done = 0;
#pragma omp parallel num_threads(2) shared(done)
    {
        int seen = 0;
        while (omp_get_thread_num() != 0 && !seen) { /* nobody runs the tasks before we look */
#pragma omp atomic read
            seen = done;
        }
        if (omp_get_thread_num() == 0) {
            Depend depends[] = {{(intptr_t)&x, 0, out}, {(intptr_t)&y, 0, out}};
            Task *first = __kmpc_omp_task_alloc(ME, tied, sizeof(Task), 0, nothing);
            __kmpc_omp_task_with_deps(ME, first, 2, depends, 0, NULL);
            depends[0].flags = depends[1].flags = in;
            Task *second = __kmpc_omp_task_alloc(ME, tied, sizeof(Task), 0, nothing);
            __kmpc_omp_task_with_deps(ME, second, 2, depends, 0, NULL);
            Edges *edges = __kmpc_task_get_successors(first);
            CHECK(edges && edges->node == __kmpc_task_get_depnode(second));
            CHECK(edges->next == NULL);
            CHECK(__kmpc_task_get_successors(second) == NULL);
#pragma omp atomic write
            done = 1;
        }
    }
}

/* A proxy task has ended when somebody says so, not when its routine returns. */
static void proxies(void) {
    int x, runs = 0;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 20; ++round) {
        Depend depend = {(intptr_t)&x, 0, out};
        Task *first = __kmpc_omp_task_alloc(ME, tied | proxy, sizeof(Task), 0, nothing);
        __kmpc_omp_task_with_deps(ME, first, 1, &depend, 0, NULL);
        Task *second = __kmpc_omp_task_alloc(ME, tied, sizeof(Task), 0, count_up);
        second->cell = &runs;
        __kmpc_omp_task_with_deps(ME, second, 1, &depend, 0, NULL);
#pragma omp taskyield
        int so_far;
#pragma omp atomic read
        so_far = runs;
        CHECK_EQ(so_far, round);
        if (round % 2)
            __kmpc_proxy_task_completed(__kmpc_global_thread_num(NULL), first);
        else
            __kmpc_proxy_task_completed_ooo(first);
#pragma omp taskwait
        CHECK_EQ(runs, round + 1);
    }
}

uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);

static void task_numbers(void) {
#pragma omp parallel
#pragma omp single
    {
        const uint64_t mine = __kmpc_get_taskid();
        for (int i = 0; i < 10; ++i) {
#pragma omp task
            {
                CHECK(__kmpc_get_taskid() != mine);
                CHECK(__kmpc_get_parent_taskid() == mine);
            }
        }
    }
}

/* ---- loops and variables ---- */

void __kmpc_team_static_init_4(void *, int, int *, int *, int *, int *, int, int);

static void team_chunks(void) {
    static int runs[100];
#pragma omp teams num_teams(3) thread_limit(1)
    {
        int last = 0, lower = 0, upper = 99, stride = 1;
        __kmpc_team_static_init_4(ME, &last, &lower, &upper, &stride, 1, 7);
        for (; lower <= 99; lower += stride, upper += stride)
            for (int i = lower; i <= (upper < 99 ? upper : 99); ++i) {
#pragma omp atomic
                ++runs[i];
            }
    }
    for (int i = 0; i < 100; ++i)
        CHECK_EQ(runs[i], 1);
}

void __kmpc_threadprivate_register_vec(void *, void *, void *(*)(void *, size_t),
                                       void *(*)(void *, void *, size_t), void *(*)(void *, size_t),
                                       size_t);
void *__kmpc_threadprivate_cached(void *, int, void *, size_t, void ***);

static int numbers[4];
static void *number(void *array, size_t count) {
    for (size_t i = 0; i < count; ++i)
        ((int *)array)[i] = (int)i + 1;
    return array;
}

static int destroyed;
static void *destroy(void *array, size_t count) {
    (void)array;
    destroyed += (int)count;
    return NULL;
}

static void **cache;
static void *in_a_thread(void *unused) {
    int *mine = __kmpc_threadprivate_cached(ME, numbers, sizeof numbers, &cache);
    CHECK(mine != numbers);
    for (int i = 0; i < 4; ++i)
        CHECK_EQ(mine[i]++, i + 1);
    return unused;
}

/* Copies live as long as their thread. */
static void threadprivate_array(void) {
    __kmpc_threadprivate_register_vec(NULL, numbers, number, NULL, destroy, 4);
    for (int i = 0; i < 2; ++i) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, in_a_thread, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_EQ(destroyed, 4 * (i + 1));
    }
#pragma omp parallel
    {
        int *mine = __kmpc_threadprivate_cached(ME, numbers, sizeof numbers, &cache);
        if (omp_get_thread_num() > 0)
            for (int i = 0; i < 4; ++i)
                CHECK_EQ(mine[i], i + 1);
    }
}

/* ---- taskgraphs ---- */

typedef int start_record(void *, int, int, int); /* distributions build libomp without them */
typedef void end_record(void *, int, int, int);

/* The region ends when its tasks have, in the order of their dependences, whenever it comes again.
 */
static void taskgraphs(void) {
    enum { rounds = 40 };
    static int first, second, sums[2];
    start_record *const start = (start_record *)dlsym(RTLD_DEFAULT, "__kmpc_start_record_task");
    end_record *const end = (end_record *)dlsym(RTLD_DEFAULT, "__kmpc_end_record_task");
    CHECK(start && end);
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < rounds; ++round) {
        const int graph = round % 2;
        if (start(ME, 0, graph)) {
#pragma omp task depend(out : first)
            first = graph + 1;
#pragma omp task depend(out : second)
            second = 10 * (graph + 1);
            for (int i = 0; i < 3; ++i) {
#pragma omp task depend(in : first, second) depend(inout : sums[graph])
                sums[graph] += first + second;
            }
        }
        end(ME, 0, graph);
        CHECK_EQ(sums[graph], 33 * (graph + 1) * (round / 2 + 1));
    }
}

int main(void) {
    taskgraphs();
    sections();
    successors();
    proxies();
    task_numbers();
    team_chunks();
    threadprivate_array();
    return 0;
}
