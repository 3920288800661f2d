/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test: shape=1x1|2x1
 * progress: mode=polling
 * MPI detach paper, section 6.1: where the main thread communicates and polls, MPI_THREAD_FUNNELED
 * is enough; section 4.1: null and inactive requests are complete at once; section 4.2: the handles
 * of persistent requests stay; section 4.3: MPIX_Progress lets MPI go on with messages of which
 * nobody has detached any. The program has no OpenMP and runs also without Sennit's runtime. */
#include "check.h"

#include <mpi-detach.h>
#include <string.h>

static int called, received, statuses_right;

/* By the names of the authors' own header. */
static MPIX_Detach_callback count_one;
static MPIX_Detach_callback_status count_status;
static MPIX_Detach_all_callback_statuses count_all;

static void count_one(void *data) {
    ++*(int *)data;
}
static void count_status(void *data, MPI_Status *status) {
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    statuses_right += count == 0 && status->MPI_SOURCE == MPI_ANY_SOURCE;
    count_one(data);
}
static void count_all(void *data, int count, MPI_Status *statuses) {
    (void)statuses;
    *(int *)data += count;
}

/* The receiver calls nothing else until the message is there. */
static void progress(void) {
    static volatile int arrived = -1;
    MPI_Request receive, send;
    MPI_Irecv((void *)&arrived, 1, MPI_INT, previous(), 3, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Issend(&rank, 1, MPI_INT, next(), 3, MPI_COMM_WORLD, &send);
    for (const double start = MPI_Wtime(); arrived == -1; MPIX_Progress(NULL))
        CHECK(MPI_Wtime() - start < 100);
    CHECK(arrived == previous());
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

/* Of a long message the sender calls nothing else until the receiver has it, either, whether
 * nothing is detached or something else. */
static void progress_of_send(int detached) {
    enum { length = 16 << 20 };
    char *const message = calloc(length, 1);
    CHECK(message);
    int later = -1, later_over = 0;
    if (rank == 0) {
        static volatile int arrived;
        MPI_Request other, answer, send;
        arrived = 0;
        if (detached) {
            MPI_Irecv(&later, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &other);
            CHECK(MPIX_Detach(&other, count_one, &later_over) == MPI_SUCCESS);
        }
        MPI_Irecv((void *)&arrived, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &answer);
        memset(message, 7, length);
        MPI_Isend(message, length, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &send);
        for (const double start = MPI_Wtime(); !arrived; MPIX_Progress(NULL))
            CHECK(MPI_Wtime() - start < 100);
        CHECK(!later_over);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&answer, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(message, length, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(message[0] == 7 && message[length - 1] == 7);
        MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && detached)
        MPI_Send(&rank, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    while (rank == 0 && detached && !later_over)
        MPIX_Progress(NULL);
    CHECK(later == (rank == 0 && detached ? 1 : -1));
    free(message);
}

int main(int argc, char **argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided >= MPI_THREAD_FUNNELED);

    int buffer = -1;
    MPI_Request null = MPI_REQUEST_NULL, nulls[3], inactive;
    void *data[3] = {&called, &called, &called};
    for (int i = 0; i < 3; ++i)
        nulls[i] = MPI_REQUEST_NULL;
    CHECK(MPIX_Detach(&null, count_one, &called) == MPI_SUCCESS && called == 1);
    CHECK(MPIX_Detach_status(&null, count_status, &called) == MPI_SUCCESS && called == 2);
    CHECK(MPIX_Detach_each(3, nulls, count_one, data) == MPI_SUCCESS && called == 5);
    CHECK(MPIX_Detach_all(3, nulls, count_one, &called) == MPI_SUCCESS && called == 6);
    CHECK(MPIX_Detach_all(0, NULL, count_one, &called) == MPI_SUCCESS && called == 7);
    CHECK(MPIX_Detach_all_status(3, nulls, count_all, &called) == MPI_SUCCESS && called == 10);
    MPI_Recv_init(&buffer, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &inactive);
    MPI_Request copy = inactive;
    CHECK(MPIX_Detach_status(&copy, count_status, &called) == MPI_SUCCESS && called == 11);
    CHECK(statuses_right == 2 && copy == inactive);
    MPI_Request mixed[2] = {MPI_REQUEST_NULL, inactive};
    CHECK(MPIX_Detach_all(2, mixed, count_one, &called) == MPI_SUCCESS && called == 12);
    CHECK(mixed[0] == MPI_REQUEST_NULL && mixed[1] == inactive);
    CHECK(MPIX_Detach_each(2, mixed, count_one, data) == MPI_SUCCESS && called == 14);
    CHECK(mixed[1] == inactive);
    MPI_Start(&mixed[1]);
    MPI_Send(&rank, 1, MPI_INT, next(), 1, MPI_COMM_WORLD);
    CHECK(MPIX_Detach(&mixed[1], count_one, &received) == MPI_SUCCESS && mixed[1] == inactive);
    while (!received)
        MPIX_Progress(NULL);
    CHECK(buffer == previous());
    received = 0;
    MPI_Request_free(&inactive);
    progress();
    for (int detached = 0; ranks > 1 && detached < 2; ++detached)
        progress_of_send(detached);

    MPI_Request receive, send;
    MPI_Irecv(&buffer, 1, MPI_INT, previous(), 2, MPI_COMM_WORLD, &receive);
    CHECK(MPIX_Detach(&receive, count_one, &received) == MPI_SUCCESS);
    CHECK(receive == MPI_REQUEST_NULL);
    MPI_Isend(&rank, 1, MPI_INT, next(), 2, MPI_COMM_WORLD, &send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    while (!received)
        MPIX_Progress(NULL);
    CHECK(buffer == previous());
    MPI_Finalize();
    return 0;
}
