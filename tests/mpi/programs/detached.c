/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: shape=1x1|2x1
 * chaos: number=21
 * progress: mode=polling|progress
 * MPI detach paper, section 4.2: persistent requests are started and detached in one call, again
 * and again; section 6.1: with MPIX_DETACH=progress callbacks come without any call of
 * MPIX_Progress. The program has no OpenMP and runs also without Sennit's runtime. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <mpix_detach.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { messages = 20, rounds = 3 };

static atomic_int plain, statuses_right, all, all_status;

static void count_one(void *data) {
    atomic_fetch_add((atomic_int *)data, 1);
}
static void count_status(void *data, MPI_Status *status) {
    atomic_fetch_add(&statuses_right, status->MPI_TAG == *(int *)data);
}
static void count_all(void *data, int count, MPI_Status *statuses) {
    for (int i = 0; i < count; ++i)
        atomic_fetch_add(&statuses_right, statuses[i].MPI_TAG == i);
    atomic_fetch_add((atomic_int *)data, 1);
}

static int have_thread;
static void until(atomic_int *counter, int expected) {
    while (atomic_load(counter) < expected)
        if (have_thread)
            sched_yield();
        else
            MPIX_Progress(NULL);
    CHECK(atomic_load(counter) == expected);
}

/* Section 6.1: the thread suspends itself while no request is detached. */
static void idle(void) {
    const struct timespec pause = {0, 300 * 1000 * 1000};
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double seconds =
        (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    CHECK(seconds < 0.1);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    have_thread = getenv("MPIX_DETACH") && strcmp(getenv("MPIX_DETACH"), "progress") == 0;
    int in[messages], out[messages], tags[messages];
    void *ones[messages], *tag_data[messages];
    MPI_Request receives[messages], sends[messages];
    for (int i = 0; i < messages; ++i) {
        tags[i] = i;
        out[i] = 10 * rank + i;
        ones[i] = &plain;
        tag_data[i] = &tags[i];
        MPI_Recv_init(&in[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &receives[i]);
        MPI_Send_init(&out[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, &sends[i]);
    }
    int one = 0, right = 0, whole = 0, whole_status = 0;
    for (int round = 0; round < rounds; ++round)
        for (int kind = 0; kind < 6; ++kind) {
            memset(in, -1, sizeof in);
            switch (kind) {
            case 0:
                for (int i = 0; i < messages; ++i)
                    MPIX_Start_detached(&receives[i], count_one, &plain);
                one += messages;
                break;
            case 1:
                for (int i = 0; i < messages; ++i)
                    MPIX_Start_detached_status(&receives[i], count_status, &tags[i]);
                right += messages;
                break;
            case 2:
                MPIX_Start_detached_each(messages, receives, count_one, ones);
                one += messages;
                break;
            case 3:
                MPIX_Start_detached_each_status(messages, receives, count_status, tag_data);
                right += messages;
                break;
            case 4:
                MPIX_Start_detached_all(messages, receives, count_one, &all);
                whole += 1;
                break;
            default:
                MPIX_Start_detached_all_status(messages, receives, count_all, &all_status);
                right += messages;
                whole_status += 1;
            }
            MPI_Startall(messages, sends);
            MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE);
            until(&plain, one);
            until(&statuses_right, right);
            until(&all, whole);
            until(&all_status, whole_status);
            for (int i = 0; i < messages; ++i)
                CHECK(in[i] == 10 * previous() + i && receives[i] != MPI_REQUEST_NULL);
        }
    if (have_thread)
        idle();
    for (int i = 0; i < messages; ++i) {
        MPI_Request_free(&receives[i]);
        MPI_Request_free(&sends[i]);
    }
    /* MPI_Finalize waits for what was left. */
    static int late_in, late_out;
    MPI_Request request, send;
    MPI_Irecv(&late_in, 1, MPI_INT, previous(), 99, MPI_COMM_WORLD, &request);
    CHECK(MPIX_Detach(&request, count_one, &plain) == MPI_SUCCESS);
    MPI_Isend(&late_out, 1, MPI_INT, next(), 99, MPI_COMM_WORLD, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return atomic_load(&plain) == one + 1 ? 0 : 1;
}
