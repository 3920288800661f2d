/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x2 SENNIT_UNTIED=anywhere
 * Untied tasks that wait for messages go on on another thread, while the one that began them
 * computes. */
#define _GNU_SOURCE
#include "check.h"

#include <omp.h>
#include <sched.h>
#include <time.h>

enum { count = 20 };

static int begun, ended, all_begun;

/* A call, so that no compiler keeps the answer. */
__attribute__((noinline)) static int thread_here(void) {
    __asm__ volatile("");
    return omp_get_thread_num();
}

#ifndef CHECK_THREAD /* tests/pass/run/any_thread.c: tied tasks, which ask for no thread */
#define UNTIED untied
#define CHECK_THREAD(is_first) CHECK((thread_here() == 0) == (is_first))
#endif

__attribute__((noinline)) static void receive(int tag) {
    int value = -1;
    CHECK_THREAD(1);
    __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
    CHECK(MPI_Recv(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(value == tag);
    CHECK_THREAD(0);
    /* Once more, both ways, on the new thread. */
    CHECK(MPI_Sendrecv_replace(&value, 1, MPI_INT, 1, tag, 1, count + tag, MPI_COMM_WORLD,
                               MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(value == count + tag);
    __atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

/* Thread 0 begins all tasks, tells the other rank, and then does nothing else than look. */
static void receive_all(void) {
#pragma omp parallel num_threads(2)
    {
        if (thread_here() == 0) {
            for (int tag = 0; tag < count; ++tag) {
#pragma omp task UNTIED firstprivate(tag)
                receive(tag);
            }
            while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < count) {
#pragma omp taskyield
            }
            __atomic_store_n(&all_begun, 1, __ATOMIC_SEQ_CST);
            for (const time_t begin = time(NULL); __atomic_load_n(&ended, __ATOMIC_SEQ_CST) < count;
                 sched_yield())
                CHECK(time(NULL) - begin < 120);
        } else {
            while (!__atomic_load_n(&all_begun, __ATOMIC_SEQ_CST))
                sched_yield();
            MPI_Send(NULL, 0, MPI_INT, 1, 2 * count, MPI_COMM_WORLD);
        }
    }
}

static void answer_all(void) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 2 * count, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int tag = 0; tag < count; ++tag)
        MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    for (int tag = 0; tag < count; ++tag) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == tag);
        value = count + tag;
        MPI_Send(&value, 1, MPI_INT, 0, value, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (rank == 0)
        receive_all();
    else
        answer_all();
    MPI_Finalize();
    return 0;
}
