/* SPDX-License-Identifier: Apache-2.0
 * test: shape=1x2|2x2
 * chaos: number=27
 * bells: number=46
 * split:
 * started: mpi.chaos.bad.{bad.replace(':', '_')}.{mpi} exe={bin}/{program}-{paired}-{mpi}
 *     shape=1x1 processors=
 *     bad=latency:5|seed:x|seed:1,latency:-1|seed:1,fail:0|seed:1,orders|seed:1,
 *     SENNIT_CHAOS={bad} pass="sennit: SENNIT_CHAOS='{bad}': .* going on without chaos"
 * paired: mpi.some_ranks.{mpi} if="not sanitized" shape=2x1
 *     run='{sennit} run -n 2 --threads 1 --mpi {mpi} sh -c {on_one_rank} {exe}'
 *     pass='waits in MPI_Init for ranks without SENNIT_POLICY=global' # a policy that needs all
 *     ranks, on one of them: a line and an end, no hang in MPI_Init
 * Calls outside of tasks are bare MPI: before, in and after parallel regions, and in a program that
 * asked for less than MPI_THREAD_MULTIPLE. */
#include "check.h"

int main(int argc, char **argv) {
    int provided = -1, level = -1, value = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_FUNNELED);
    MPI_Query_thread(&level);
    CHECK(level == provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Sendrecv(&rank, 1, MPI_INT, next(), 0, &value, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(value == previous());
#pragma omp parallel
#pragma omp master
    {
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == ranks * (ranks - 1) / 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
