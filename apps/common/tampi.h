/* SPDX-License-Identifier: Apache-2.0
 *
 * What TAMPI adds to MPI: the level MPI_TASK_MULTIPLE, and requests bound to tasks. It is looked up
 * at start, so a program runs without it, too.
 */
#ifndef COMMON_TAMPI_H
#define COMMON_TAMPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

int TAMPI_Iwait(MPI_Request *request, MPI_Status *status);
#pragma weak TAMPI_Iwait

/* The level above MPI_THREAD_MULTIPLE at which a task that blocks in MPI keeps no thread. */
enum { task_multiple_level = MPI_THREAD_MULTIPLE + 1 };

static inline bool can_bind(void) {
    return TAMPI_Iwait != NULL;
}

/* MPI libraries that do not know the level need not take the request for it: Open MPI 4.1 ends the
 * program, MPICH 4.0 provides MPI_THREAD_SINGLE. Where TAMPI's functions are, the level is. */
static inline int task_level_to_ask(void) {
    return can_bind() ? task_multiple_level : MPI_THREAD_MULTIPLE;
}

#endif
