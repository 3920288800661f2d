/* SPDX-License-Identifier: Apache-2.0
 * simple: out={bin}/{program}-{mpi} compile='{mpicc} -O1 -g -std=c11 -w -Wl,--as-needed' --
 *     {library} {rpath} # no library of the MPI is named in it
 * once: mpi.{program}.{mpi} if="not sanitized" processors= run='{sennit} run -n 2 {exe}' -- 2
 * once: mpi.{program}.alone.{mpi} if="not sanitized" processors= run={exe}
 * only_sennit [RANKS]: linked with Sennit's library and --as-needed. The linker drops an MPI
 * library of which the program needs nothing that Sennit's does not have. Of Open MPI that is
 * little: its constants are objects of its library. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    const int ranks = argc > 1 ? atoi(argv[1]) : 1;
    int sum = ranks;
    MPI_Init(&argc, &argv);
#ifndef OPEN_MPI
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
    return MPI_Finalize() == MPI_SUCCESS && sum == ranks ? 0 : 1;
}
