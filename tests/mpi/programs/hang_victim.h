/* SPDX-License-Identifier: Apache-2.0
 * What the cases of hang_victim have in common: those that hang (hang_victim.c) and those that only
 * look like it (hang_victim_slow.c).
 */
#pragma once

#include <mpi.h>
#include <mpix_continue.h>
#include <stddef.h>

struct hang_case {
    const char *name;
    void (*run)(void);
};
extern const struct hang_case slow_cases[]; /* the last one has no name */

extern int rank;
extern const char *program;
extern int value; /* whatever is sent and received */

static inline void receive(int tag) {
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static inline void send(int tag) {
    MPI_Ssend(&value, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
}
static inline void compute(double seconds) {
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    }
}

#if MPI_VERSION >= 4
/* To rank 0, of rank 1's partitions only the first is ready. */
static inline void first_part_ready(void *memory, int parts, MPI_Datatype type, int tag) {
    MPI_Request request;
    if (rank == 0)
        MPI_Precv_init(memory, parts, 1, type, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Psend_init(memory, parts, 1, type, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 1)
        MPI_Pready(0, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}
#endif

/* A callback that has returned at once before, so that the waiting thread calls it. */
static inline int call(int error, void *action) {
    if (action)
        ((void (*)(void))action)();
    return error;
}
static inline void wait_calling(void (*action)(void)) {
    MPI_Request calls, nothing = MPI_REQUEST_NULL;
    MPIX_Continue_init(MPIX_CONT_POLL_ONLY, 0, MPI_INFO_NULL, &calls);
    MPI_Start(&calls);
    MPIX_Continue(&nothing, call, (void *)action, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE,
                  calls);
    MPI_Wait(&calls, MPI_STATUS_IGNORE);
    MPI_Request_free(&calls);
}
