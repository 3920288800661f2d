/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc -- -lpthread # as thread-local storage
 * build: compiler=clang -fnoopenmp-use-tls group=printing -- -lpthread # through the runtime
 * test, kept: # stock libomp gives all threads that the program starts the first thread's copies
 * run: omp.{program}.inner.clang.t{threads} compiler=clang threads=2|4 SENNIT_SPLIT=inner
 *
 * threadprivate_regions.c - a random sequence of regions whose threads keep threadprivate variables
 * (OpenMP 5.2, 5.2), against what a model says. Prints what the threads have in the end.
 */
#include "check.h"

#include <pthread.h>
#include <string.h>

enum { kMost = 512, kRegions = 150, kList = 40 };

static long own = 7;
static struct {
    double x;
    long list[kList];
} record = {2.5, {0}};
static long tally;
#pragma omp threadprivate(own, record, tally)

static int g_threads;

/* What one thread of the program knows of the threads of its regions. */
struct model {
    uint64_t state;
    long own[kMost];
    long record[kMost];
    const void *where[kMost];
};

static long mix(long value, long more) {
    return (long)(((unsigned long)value * 31 + (unsigned long)more) % 1000003);
}

/* A region, of the environment's number of threads. Each has what it had, where it had it. */
static void keep(struct model *model, long round) {
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        CHECK_EQ(omp_get_num_threads(), g_threads);
        CHECK(&own == model->where[me]);
        CHECK_EQ(own, model->own[me]);
        CHECK_EQ(record.list[kList - 1], model->record[me]);
        own = model->own[me] = mix(own, me + round);
        record.list[kList - 1] = model->record[me] = mix(own, round);
    }
}

/* After a region of another size nothing is certain. */
static void begin_anew(struct model *model, long round) {
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        model->where[me] = &own;
        own = model->own[me] = mix(me, round);
        record.list[kList - 1] = model->record[me] = me;
    }
    for (int i = 0; i < g_threads; ++i)
        for (int k = 0; k < i; ++k)
            CHECK(model->where[i] != model->where[k]);
}

/* Of the program's first thread only: compilers copy its copy, whoever encounters the region. */
static void copies_in(struct model *model, long round) {
    own = -round;
    record.x = 0.5 * (double)round;
    record.list[kList - 1] = 3 * round;
#pragma omp parallel copyin(own, record)
    {
        const int me = omp_get_thread_num();
        CHECK(&own == model->where[me]);
        CHECK_EQ(own, -round);
        CHECK(record.x == 0.5 * (double)round);
        CHECK_EQ(record.list[kList - 1], 3 * round);
        own = model->own[me] = mix(round, me);
        model->record[me] = 3 * round;
    }
    CHECK_EQ(own, model->own[0]);
}

static void copies_private(struct model *model, long round) {
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
#pragma omp single copyprivate(own)
        own = 5 * round;
        CHECK_EQ(own, 5 * round);
        CHECK(&own == model->where[me]);
        own = model->own[me] = mix(own, me);
    }
}

/* A task is tied to a thread, and has what this thread has; also after it was suspended. */
static void tasks(struct model *model) {
    long sum = 0;
#pragma omp parallel
    {
        tally = 0;
#pragma omp barrier
        for (int i = 0; i < 6; ++i) {
#pragma omp task
            {
                const int me = omp_get_thread_num();
                const void *before = &own; /* where it is const, clang 19 takes &own for one */
                CHECK(before == model->where[me]);
                CHECK_EQ(own, model->own[me]);
                ++tally;
#pragma omp task
                {
                    CHECK(&own == model->where[omp_get_thread_num()]);
                    ++tally;
                }
                if (i % 2 == 0) {
#pragma omp taskyield
                } else {
#pragma omp taskwait
                }
                CHECK_EQ(omp_get_thread_num(), me);
                CHECK(&own == before);
            }
        }
#pragma omp barrier
        CHECK_EQ(own, model->own[omp_get_thread_num()]);
#pragma omp atomic
        sum += tally;
    }
    CHECK_EQ(sum, 12L * g_threads);
}

/* The first thread of a nested region is the thread that encountered it. The others are others. */
static void nested(struct model *model, long round) {
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0) {
                CHECK(&own == model->where[me]);
                CHECK_EQ(own, model->own[me]);
                own = mix(own, round);
#pragma omp parallel num_threads(1)
                CHECK(&own == model->where[me]);
            } else {
                for (int i = 0; i < g_threads; ++i)
                    CHECK(&own != model->where[i]);
                own = -1;
            }
        }
        model->own[me] = mix(model->own[me], round);
        CHECK_EQ(own, model->own[me]);
    }
}

/* Whatever runs on its worker while it waits, a thread finds what it has left. */
static void barriers(struct model *model) {
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        for (int i = 0; i < 4; ++i) {
            own = me + i;
#pragma omp barrier
            CHECK(&own == model->where[me]);
            CHECK_EQ(own, me + i);
#pragma omp barrier
        }
        own = model->own[me];
    }
}

static void loop(long round) {
    long sum = 0;
#pragma omp parallel
    {
        tally = 0;
#pragma omp for schedule(dynamic)
        for (long i = 0; i < 5 * g_threads; ++i)
            tally += i + round;
#pragma omp atomic
        sum += tally;
    }
    const long count = 5L * g_threads;
    CHECK_EQ(sum, count * (count - 1) / 2 + count * round);
}

/* The encountering thread has its own, outside of regions as well. */
static void alone(struct model *model) {
    const void *outside = &own;
    CHECK(outside == model->where[0]);
#pragma omp parallel if (0)
    {
        CHECK(&own == outside);
        CHECK_EQ(own, model->own[0]);
    }
}

static void other_size(int threads) {
#pragma omp parallel num_threads(threads)
    {
        const int me = omp_get_thread_num();
        own = me;
        record.list[kList - 1] = me;
#pragma omp barrier
        CHECK_EQ(own, me);
    }
}

static void sequence(struct model *model, int regions) {
    CHECK_EQ(own, 7);
    CHECK(record.x == 2.5);
    begin_anew(model, 0);
    for (long round = 1; round <= regions; ++round) {
        switch (check_random(&model->state) % 9) {
        case 0:
            copies_private(model, round);
            break;
        case 1:
            tasks(model);
            break;
        case 2:
            nested(model, round);
            break;
        case 3:
            barriers(model);
            break;
        case 4:
            loop(round);
            break;
        case 5:
            alone(model);
            break;
        case 6:
            if (model->state % 8 == 0) {
                other_size(1 + (int)(model->state / 8 % 24));
                begin_anew(model, round);
            }
            break;
        default:
            break;
        }
        keep(model, round);
    }
}

static void *another(void *argument) {
    struct model *const model = argument;
    omp_set_num_threads(g_threads);
    sequence(model, 40);
    return NULL;
}

/* Regions of several threads at once: each has threads of its own. */
static void side_by_side(void) {
    static struct model models[2];
    for (int time = 0; time < 2; ++time) {
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) {
            models[i].state = 17 + (uint64_t)i;
            CHECK_EQ(pthread_create(&threads[i], NULL, another, &models[i]), 0);
        }
        for (int i = 0; i < 2; ++i)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
}

int main(void) {
    static struct model model = {.state = 42};
    g_threads = check_threads();
    CHECK(g_threads <= kMost);
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    sequence(&model, kRegions);
    for (long round = 1; round <= 20; ++round) {
        copies_in(&model, round);
        keep(&model, round);
    }
    side_by_side();
    keep(&model, 3); /* whatever other threads' regions did */
    for (int i = 0; i < g_threads; ++i)
        printf("thread %d has %ld and %ld\n", i, model.own[i], model.record[i]);
    return 0;
}
