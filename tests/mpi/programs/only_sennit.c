/* SPDX-License-Identifier: Apache-2.0
 * Linked with Sennit's library and --as-needed: the linker drops an MPI library of which the
 * program needs nothing that Sennit's does not have. */
#include "check.h"

int main(int argc, char **argv) {
    int on = 0;
#ifdef OPEN_MPI /* its constants are objects of its library */
    MPI_Init(&argc, &argv);
#else
    int sum = 0;
    begin(&argc, &argv);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * (ranks - 1) / 2);
#endif
    MPI_Initialized(&on);
    MPI_Finalize();
    return on ? 0 : 1;
}
