/* SPDX-License-Identifier: Apache-2.0
 * A check that names what failed and ends the job. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            int check_rank = -1;                                                                   \
            MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);                                            \
            fprintf(stderr, "%s:%d: rank %d: does not hold: %s\n", __FILE__, __LINE__, check_rank, \
                    #condition);                                                                   \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

/* Memory of a window: Debian's MPICH 4.0, over UCX, takes its address for the next lower multiple
 * of 16, and puts there. Without Sennit, too. */
#define IN_WINDOW __attribute__((aligned(16)))

static int rank, ranks;

static inline void begin(int *argc, char ***argv) {
    int provided = -1;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided >= MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static inline int next(void) {
    return (rank + 1) % ranks;
}
static inline int previous(void) {
    return (rank + ranks - 1) % ranks;
}

#endif
