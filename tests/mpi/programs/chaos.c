/* SPDX-License-Identifier: Apache-2.0
 * build_once: -fopenmp -I{include} -- {library}
 * started: mpi.chaos.late.seed{seed}.{mpi} seed=1|2|3 virtual=1 shape=2x2
 *     SENNIT_CHAOS=seed:{seed},latency:20000,order -- late 20000
 * started: mpi.chaos.fail.seed{seed}.{mpi} seed=1|2|3 virtual=1 shape=2x2
 *     SENNIT_CHAOS=seed:{seed},fail:5 -- fail
 * started: mpi.chaos.short.seed{seed}.{mpi} seed=1|2|3 virtual=1 shape=2x2
 *     SENNIT_CHAOS=seed:{seed},short:4 -- short
 * What SENNIT_CHAOS promises, for two ranks: chaos late US | fail | short. The environment asks for
 * the same. late   a message that is there already takes the latency, in a task and bound to one
 *   fail   the calls that fail give MPI_ERR_OTHER through the communicator's error handler, and can
 *          be made again; a collective fails on all ranks or on none
 *   short  a receive's status has fewer elements than were received, which are all there */
#include "check.h"

#include "TAMPI.h"

#include <string.h>

enum { calls = 200 };

static void late(double seconds) {
    int value = rank;
    int got = -1;
    double waited = -1;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, next(), 1, MPI_COMM_WORLD); /* outside of tasks: as ever */
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
            const double begin = MPI_Wtime();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            waited = MPI_Wtime() - begin;
        }
    }
    CHECK(got == previous());
    CHECK(waited >= seconds);

    MPI_Irecv(&got, 1, MPI_INT, previous(), 2, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, next(), 2, MPI_COMM_WORLD);
    double bound = -1;
#pragma omp parallel
#pragma omp single
    {
        double begin = 0;
#pragma omp task depend(out : got) shared(begin)
        {
            begin = MPI_Wtime();
            TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
        }
#pragma omp task depend(in : got) shared(begin)
        bound = MPI_Wtime() - begin;
#pragma omp taskwait
    }
    CHECK(bound >= seconds);
}

static int handled;
static void count_error(MPI_Comm *comm, int *error, ...) {
    (void)comm;
    (void)error;
#pragma omp atomic
    ++handled;
}

static int failed(int error) {
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_OTHER);
    return class != MPI_SUCCESS;
}

static void fail(void) {
    MPI_Errhandler counting;
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    int received[calls];
    int failures = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < calls; ++i) {
#pragma omp task firstprivate(i)
            while (failed(MPI_Send(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD)))
#pragma omp atomic
                ++failures;
#pragma omp task firstprivate(i)
            while (failed(MPI_Recv(&received[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE)))
#pragma omp atomic
                ++failures;
        }
#pragma omp taskwait
#pragma omp task
        for (int i = 0; i < calls; ++i)
            while (failed(MPI_Barrier(MPI_COMM_WORLD)))
#pragma omp atomic
                ++failures;
    }
    for (int i = 0; i < calls; ++i)
        CHECK(received[i] == i);
    CHECK(failures > 0);
    CHECK(failures < 3 * calls);
    CHECK(handled == failures);
    MPI_Errhandler_free(&counting);
}

static void shortened(void) {
    int fewer = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < calls; ++i) {
#pragma omp task firstprivate(i)
        {
            int values[4] = {i, i + 1, i + 2, i + 3};
            MPI_Send(values, 4, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
#pragma omp task firstprivate(i)
        {
            int values[4] = {0};
            MPI_Status status;
            int count = -1;
            MPI_Recv(values, 4, MPI_INT, previous(), i, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_INT, &count);
            CHECK(count == 4 || count == 2);
            CHECK(status.MPI_SOURCE == previous() && status.MPI_TAG == i);
            for (int k = 0; k < 4; ++k)
                CHECK(values[k] == i + k);
            if (count == 2)
#pragma omp atomic
                ++fewer;
        }
    }
    CHECK(fewer > 0);
    CHECK(fewer < calls);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc == 3 && strcmp(argv[1], "late") == 0)
        late(atof(argv[2]) * 1e-6);
    else if (argc == 2 && strcmp(argv[1], "fail") == 0)
        fail();
    else if (argc == 2 && strcmp(argv[1], "short") == 0)
        shortened();
    else
        CHECK(!"usage: chaos late US | fail | short");
    MPI_Finalize();
    return 0;
}
