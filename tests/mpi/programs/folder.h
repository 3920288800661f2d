/* SPDX-License-Identifier: Apache-2.0
 * A folder for a test's files, one for all ranks. To be included first. */
#ifndef FOLDER_H
#define FOLDER_H

#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "check.h"

#include <unistd.h>

static char folder[] = "/tmp/sennit-files-XXXXXX";

static inline void enter_folder(void) {
    if (rank == 0)
        CHECK(mkdtemp(folder) != NULL);
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(chdir(folder) == 0);
}

static inline void leave_folder(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(chdir("/") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        rmdir(folder); /* Open MPI may leave a file for its shared file pointers */
}

#endif
