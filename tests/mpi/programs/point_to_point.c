/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=all
 * test: shape=1x1|2x1|2x2|4x2 sample="shape == '2x2'" with_assertions=2x2 checked_fibers=1
 * chaos: number=0
 * bells: number=41
 * network, lending, split:
 * Task-aware MPI paper, section 5: blocking point-to-point calls in tasks, receives before sends,
 * more blocked tasks than threads. Each mode of sending, Sendrecv(_replace), Probe, Mprobe;
 * statuses. */
#include "check.h"

enum { messages = 50 };

static int (*const send_modes[])(const void *, int, MPI_Datatype, int, int,
                                 MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend};
enum { modes = sizeof send_modes / sizeof *send_modes };

static void sends_of_all_modes(void) {
    int values[modes][messages];
    for (int mode = 0; mode < modes; ++mode)
        for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(mode, i) shared(values)
            {
                MPI_Status status = {.MPI_ERROR = 4711};
                const int tag = mode * messages + i;
                CHECK(MPI_Recv(&values[mode][i], 1, MPI_INT, previous(), tag, MPI_COMM_WORLD,
                               &status) == MPI_SUCCESS);
                int count = -1;
                MPI_Get_count(&status, MPI_INT, &count);
                CHECK(count == 1 && status.MPI_TAG == tag && status.MPI_SOURCE == previous());
                CHECK(status.MPI_ERROR == 4711);
            }
        }
    for (int mode = 0; mode < modes; ++mode)
        for (int i = messages - 1; i >= 0; --i) {
#pragma omp task firstprivate(mode, i)
            {
                const int value = 1000 * rank + i;
                CHECK(send_modes[mode](&value, 1, MPI_INT, next(), mode * messages + i,
                                       MPI_COMM_WORLD) == MPI_SUCCESS);
            }
        }
#pragma omp taskwait
    for (int mode = 0; mode < modes; ++mode)
        for (int i = 0; i < messages; ++i)
            CHECK(values[mode][i] == 1000 * previous() + i);
}

static void ready_sends(void) {
    /* A ready send wants its receive posted: by a receive task that tells through the other way. */
    int value = -1, go = 0;
#pragma omp task shared(value)
    {
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 0, MPI_INT, previous(), 2, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
#pragma omp task shared(go)
    {
        MPI_Recv(&go, 0, MPI_INT, next(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const int mine = rank;
        MPI_Rsend(&mine, 1, MPI_INT, next(), 1, MPI_COMM_WORLD);
    }
#pragma omp taskwait
    CHECK(value == previous());
}

static void exchanges(void) {
    int got[messages], replaced[messages];
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) shared(got, replaced)
        {
            const int mine = rank * 100 + i;
            MPI_Status status;
            MPI_Sendrecv(&mine, 1, MPI_INT, next(), i, &got[i], 1, MPI_INT, previous(), i,
                         MPI_COMM_WORLD, &status);
            CHECK(got[i] == previous() * 100 + i && status.MPI_TAG == i);
            replaced[i] = mine;
            MPI_Sendrecv_replace(&replaced[i], 1, MPI_INT, previous(), messages + i, next(),
                                 messages + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(replaced[i] == next() * 100 + i);
        }
    }
#pragma omp taskwait
}

static void probes(void) {
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i)
        {
            MPI_Status status;
            int value = -1, count = -1;
            if (i % 2) {
                MPI_Probe(previous(), i, MPI_COMM_WORLD, &status);
                MPI_Recv(&value, 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Message message;
                MPI_Mprobe(previous(), i, MPI_COMM_WORLD, &message, &status);
                if (i % 4 == 0) {
                    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
                } else {
                    MPI_Request request;
                    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                }
                CHECK(message == MPI_MESSAGE_NULL);
            }
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK(value == i && count == 1 && status.MPI_TAG == i);
        }
    }
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i)
        MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    }
#pragma omp taskwait
}

static void nobody(void) {
#pragma omp task
    {
        MPI_Status status;
        int value = 5;
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
        CHECK(value == 5 && status.MPI_SOURCE == MPI_PROC_NULL);
        MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    }
#pragma omp taskwait
}

/* MPI: messages of one sender with one tag arrive in the order of the sends, also when the tasks
 * that send and receive them suspend in between. */
static void order(void) {
    enum { series = 200 };
    int got[series], token_send = 0, token_receive = 0;
    (void)token_send, (void)token_receive;
    for (int i = 0; i < series; ++i) {
#pragma omp task firstprivate(i) shared(got) depend(inout : token_receive)
        MPI_Recv(&got[i], 1, MPI_INT, previous(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task firstprivate(i) depend(inout : token_send)
        MPI_Send(&i, 1, MPI_INT, next(), 7, MPI_COMM_WORLD);
    }
#pragma omp taskwait
    for (int i = 0; i < series; ++i)
        CHECK(got[i] == i);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int size = messages * (64 + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
#pragma omp parallel
#pragma omp single
    {
        sends_of_all_modes();
        ready_sends();
        exchanges();
        probes();
        nobody();
        order();
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
#pragma omp task
        CHECK(MPI_Buffer_flush() == MPI_SUCCESS);
#endif
    }
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    MPI_Finalize();
    return 0;
}
