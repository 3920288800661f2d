/* SPDX-License-Identifier: Apache-2.0
 * build: -- {library}
 * test:
 * chaos: number=18
 * TAMPI_PROPERTY_AUTO_INIT 0: calls in tasks are MPI's own but between TAMPI_Init and
 * TAMPI_Finalize. */
#include "check.h"

#include <TAMPI.h>

static int enabled(void) {
    int blocking = -1, nonblocking = -1, flag = -1;
    CHECK(TAMPI_Property_get(TAMPI_PROPERTY_BLOCKING_MODE, &blocking) == MPI_SUCCESS);
    CHECK(TAMPI_Property_get(TAMPI_PROPERTY_NONBLOCKING_MODE, &nonblocking) == MPI_SUCCESS);
    CHECK(blocking == nonblocking);
    CHECK(TAMPI_Blocking_enabled(&flag) == MPI_SUCCESS && flag == blocking);
    CHECK(TAMPI_Nonblocking_enabled(&flag) == MPI_SUCCESS && flag == blocking);
    return blocking;
}

/* Without the modes TAMPI_Iwait is MPI_Wait. */
static void calls_are_bare(void) {
    CHECK(enabled() == 0);
#pragma omp parallel
#pragma omp single
#pragma omp task
    {
        int got = -1;
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &request);
        MPI_Send(&rank, 1, MPI_INT, next(), 1, MPI_COMM_WORLD);
        CHECK(TAMPI_Iwait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(got == previous());
    }
}

/* With them, more calls block than there are threads. */
static void calls_suspend(void) {
    enum { messages = 20 };
    int got[messages];
    CHECK(enabled() == 1);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < messages; ++i) {
            got[i] = -1;
#pragma omp task firstprivate(i) shared(got)
            MPI_Recv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = messages - 1; i >= 0; --i) {
#pragma omp task firstprivate(i)
            MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < messages; ++i)
        CHECK(got[i] == i);
}

int main(int argc, char **argv) {
    int value = -1, native = -1, provided = -1;
    CHECK(TAMPI_Property_get(TAMPI_PROPERTY_AUTO_INIT, &value) == MPI_SUCCESS && value == 1);
    CHECK(TAMPI_Property_set(TAMPI_PROPERTY_AUTO_INIT, 0) == MPI_SUCCESS);
    CHECK(TAMPI_Property_get(TAMPI_PROPERTY_AUTO_INIT, &value) == MPI_SUCCESS && value == 0);
    CHECK(TAMPI_Init(MPI_TASK_MULTIPLE, &provided) != MPI_SUCCESS);
    begin(&argc, &argv);
    CHECK(TAMPI_Property_set(TAMPI_PROPERTY_AUTO_INIT, 1) != MPI_SUCCESS);
    MPI_Query_thread(&native);
    CHECK(native == MPI_THREAD_MULTIPLE);
    calls_are_bare();
    CHECK(TAMPI_Init(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == native);
    calls_are_bare();
    CHECK(TAMPI_Finalize() == MPI_SUCCESS);
    CHECK(TAMPI_Init(MPI_TASK_MULTIPLE, &provided) == MPI_SUCCESS && provided == MPI_TASK_MULTIPLE);
    calls_suspend();
    CHECK(TAMPI_Finalize() == MPI_SUCCESS);
    calls_are_bare();
    MPI_Finalize();
    return 0;
}
