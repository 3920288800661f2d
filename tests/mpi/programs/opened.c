/* SPDX-License-Identifier: Apache-2.0
 * A program that knows no MPI opens a library that does, for itself alone (RTLD_LOCAL), as Python
 * does with its extensions. This file is both. */
#ifdef OPENED

#include "check.h"

int run(int *argc, char ***argv) {
    int received = -1;
    begin(argc, argv);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(received)
        MPI_Recv(&received, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp task
        MPI_Sendrecv(&rank, 1, MPI_INT, next(), 0, NULL, 0, MPI_INT, MPI_PROC_NULL, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(received == previous());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

#else

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library || omp_get_max_threads() < 1) {
        fprintf(stderr, "no library: %s\n", dlerror());
        return 2;
    }
    int (*run)(int *, char ***);
    *(void **)&run = dlsym(library, "run");
    return run(&argc, &argv);
}

#endif
