/* SPDX-License-Identifier: Apache-2.0
 * Errors reach the caller in a task as they would without: the code with MPI_ERRORS_RETURN, a call
 * of the error handler otherwise. */
#include "check.h"

static int handled;
static void handler(MPI_Comm *comm, int *error, ...) {
    (void)comm;
    int class;
    MPI_Error_class(*error, &class);
    if (class == MPI_ERR_TRUNCATE || class == MPI_ERR_RANK)
        ++handled;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#pragma omp parallel
#pragma omp single
    {
#ifdef OPEN_MPI
#pragma omp task
        {
            int small = 0, class = 0;
            const int error = MPI_Recv(&small, 1, MPI_INT, previous(), 1, comm, MPI_STATUS_IGNORE);
            CHECK(error != MPI_SUCCESS);
            MPI_Error_class(error, &class);
            CHECK(class == MPI_ERR_TRUNCATE);
        }
#pragma omp task
        {
            int big[4] = {0};
            MPI_Send(big, 4, MPI_INT, next(), 1, comm);
        }
#endif
#pragma omp task
        {
            int big[4] = {0}, class = 0;
            const int error = MPI_Send(big, 1, MPI_INT, ranks + 5, 1, comm);
            CHECK(error != MPI_SUCCESS);
            MPI_Error_class(error, &class);
            CHECK(class == MPI_ERR_RANK);
        }
    }
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
            int value = 0;
            CHECK(MPI_Recv(&value, 1, MPI_INT, ranks + 5, 2, comm, MPI_STATUS_IGNORE) !=
                  MPI_SUCCESS);
        }
    }
    CHECK(handled == 1);
    MPI_Finalize();
    return 0;
}
