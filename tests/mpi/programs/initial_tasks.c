/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2
 * chaos: number=34
 * Tasks outside of parallel regions go on from where they were suspended, and what depends on them
 * runs, at the latest in MPI_Finalize: other runtimes run them where they are created. Those of
 * another thread run on that one, at the latest when it ends, and MPI_Finalize waits for them. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static void delay(void) {
    for (const double start = MPI_Wtime(); MPI_Wtime() - start < 0.1;) {
    }
}

/* Its task's second half is a dialogue of its own: two messages that pend at different times. */
static int answer[3], begun;
static void *other_thread(void *argument) {
    const int tag = 10 * (int)(size_t)argument;
    int *const mine = &answer[tag / 10];
#pragma omp task firstprivate(tag, mine)
    {
        const pthread_t thread = pthread_self();
        __atomic_store_n(&begun, tag, __ATOMIC_RELEASE);
        MPI_Recv(mine, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(pthread_equal(thread, pthread_self()));
        MPI_Send(mine, 1, MPI_INT, 0, tag + 1, MPI_COMM_WORLD);
        MPI_Recv(mine, 1, MPI_INT, 0, tag + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(pthread_equal(thread, pthread_self()));
    }
    if (tag == 20)
        usleep(300000); /* busy with something else, while the main thread is in MPI_Finalize */
    return NULL;
}

static void talk_to_other_thread(int tag) {
    int sent = tag, got = -1;
    MPI_Send(&sent, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_INT, 1, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == tag);
    sent = tag + 2;
    MPI_Send(&sent, 1, MPI_INT, 1, tag + 2, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    static int value = -1, seen = -1;
    pthread_t joined, late;
    if (rank == 0) {
        talk_to_other_thread(10);
        delay();
        const int sent = 5;
        MPI_Send(&sent, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == 6);
        talk_to_other_thread(20);
    } else if (rank == 1) {
        CHECK(pthread_create(&joined, NULL, other_thread, (void *)1) == 0);
        CHECK(pthread_join(joined, NULL) == 0);
        CHECK(answer[1] == 12);
        CHECK(pthread_create(&late, NULL, other_thread, (void *)2) == 0);
        while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) != 20)
            usleep(1000);
#pragma omp task depend(out : value) shared(value)
        {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ++value;
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
#pragma omp task depend(in : value) shared(value, seen)
        seen = value;
    }
    MPI_Finalize();
    if (rank == 1 && pthread_join(late, NULL) != 0)
        return 1;
    if (rank == 1 && answer[2] != 22) {
        fprintf(stderr, "a task of another thread was lost: %d\n", answer[2]);
        return 1;
    }
    if (rank == 1 && seen != 6) {
        fprintf(stderr, "a task was lost: %d\n", seen);
        return 1;
    }
    return 0;
}
