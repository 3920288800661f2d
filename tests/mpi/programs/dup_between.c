/* SPDX-License-Identifier: Apache-2.0
 * build_once:
 * once: mpi.{program}.{mpi} shape=4x1 timeout=120 SENNIT_DOORBELLS=on
 * MPI_Comm_dup of communicators of two groups, one of which is a single rank. Ranks outnumber
 * cores. All ranks have to make the call in the same way: MPI_Comm_idup does not meet MPI_Comm_dup.
 */
#include "check.h"

#include <mpi.h>

int main(int argc, char **argv) {
    int rank = 0, size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size > 2);
    for (int alone = 0; alone < size; ++alone) {
        const int is_alone = rank == alone, first_of_others = alone == 0 ? 1 : 0;
        MPI_Comm own = MPI_COMM_NULL, both = MPI_COMM_NULL, copy = MPI_COMM_NULL;
        CHECK(MPI_Comm_split(MPI_COMM_WORLD, is_alone, rank, &own) == MPI_SUCCESS);
        CHECK(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, is_alone ? first_of_others : alone, 3,
                                   &both) == MPI_SUCCESS);
        CHECK(MPI_Comm_dup(both, &copy) == MPI_SUCCESS);
        int remote = 0;
        MPI_Comm_remote_size(copy, &remote);
        CHECK(remote == (is_alone ? size - 1 : 1));
        /* A message each way: the two sides agree on its context. */
        if (is_alone) {
            MPI_Send(&rank, 1, MPI_INT, 0, 5, copy);
            MPI_Recv(&remote, 1, MPI_INT, 0, 5, copy, MPI_STATUS_IGNORE);
            CHECK(remote == first_of_others);
        } else if (rank == first_of_others) {
            MPI_Recv(&remote, 1, MPI_INT, 0, 5, copy, MPI_STATUS_IGNORE);
            CHECK(remote == alone);
            MPI_Send(&rank, 1, MPI_INT, 0, 5, copy);
        }
        MPI_Comm_free(&copy);
        MPI_Comm_free(&both);
        MPI_Comm_free(&own);
    }
    MPI_Finalize();
    return 0;
}
