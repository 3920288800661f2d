/* SPDX-License-Identifier: Apache-2.0
 * part: # install_test.py builds it
 * Needs an installation: Sennit's headers and libraries, found by pkg-config. A task on one thread
 * waits for a message that a later task sends, and another is completed by its receive. */
#include <TAMPI.h>
#include <sennit.h>

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
    int rank = 0, got = 0, bound = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(1)
#pragma omp single
    {
#pragma omp task shared(got)
        MPI_Recv(&got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task shared(bound) depend(out : bound)
        {
            MPI_Request request;
            MPI_Irecv(&bound, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
            TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
        }
#pragma omp task
        for (int tag = 1; tag <= 2; ++tag)
            MPI_Send(&(int){40 + tag}, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
#pragma omp task shared(bound) depend(in : bound)
        bound += 100;
    }
    struct sennit_statistics numbers;
    sennit_get_statistics(&numbers);
    const int well = provided == MPI_TASK_MULTIPLE && got == 41 && bound == 142;
    printf("rank %d: %s\n", rank, well ? "well" : "wrong");
    MPI_Finalize();
    return !well;
}
