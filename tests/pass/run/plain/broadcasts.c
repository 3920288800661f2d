/* SPDX-License-Identifier: Apache-2.0
 * A file that is compiled without the plug-in: its calls block. */
#include <mpi.h>

void broadcast_twice(int *x, int *y) {
    MPI_Bcast(x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(y, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
