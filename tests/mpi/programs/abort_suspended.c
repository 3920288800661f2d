/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2 exit=7
 * MPI_Abort from a task while others are suspended in MPI_Recv: the whole job ends with its code,
 * and no rank hangs. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(i)
            {
                int never;
                MPI_Recv(&never, 1, MPI_INT, next(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
#pragma omp task
        {
            for (int i = 0; i < 200; ++i) {
#pragma omp taskyield
            }
            if (rank == 0)
                MPI_Abort(MPI_COMM_WORLD, 7);
        }
    }
    return 0; /* nobody comes here */
}
