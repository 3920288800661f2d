/* SPDX-License-Identifier: Apache-2.0
 * build_once: -fPIE -pie
 * once: mpi.{program}.{mpi}.n{ranks} ranks=12|66
 *     run='{sennit} run --mpi {mpi} -n {ranks} --threads 1 {exe}' pass='^many\n$' # one call of 64
 *     ranks at most has room for what they agree on
 * Collective calls of many ranks: on MPI_COMM_WORLD and its duplicate, on its thirds in another
 * order, and on their duplicates, which are freed and made again. */
#include "check.h"

enum { ROUNDS = 3 };

static void sums(MPI_Comm comm, int size, int own, int round) {
    const int mine = own + round;
    int sum = -1, all[2] = {-1, -1}, told = own == size - 1 ? round : -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2 + size * round);
    const int both[2] = {own, -own};
    MPI_Allreduce(both, all, 2, MPI_INT, MPI_MAX, comm);
    CHECK(all[0] == size - 1 && all[1] == 0);
    MPI_Barrier(comm);
    MPI_Bcast(&told, 1, MPI_INT, size - 1, comm);
    CHECK(told == round);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < ROUNDS; ++round) {
        sums(MPI_COMM_WORLD, ranks, rank, round);
        MPI_Comm copy, third, again;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        sums(copy, ranks, rank, round);
        MPI_Comm_free(&copy);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &third);
        int size, own;
        MPI_Comm_size(third, &size);
        MPI_Comm_rank(third, &own);
        CHECK(size == (ranks + 2 - rank % 3) / 3 && own == size - 1 - rank / 3);
        sums(third, size, own, round);
        MPI_Comm_dup(third, &again);
        if (round % 2 == 0)
            MPI_Comm_free(&third);
        sums(again, size, own, round);
        MPI_Comm_free(&again);
        if (round % 2 != 0)
            MPI_Comm_free(&third);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("many");
    MPI_Finalize();
    return 0;
}
