/* SPDX-License-Identifier: Apache-2.0
 * wrapped: out={bin}/{program}-gcc-{mpi}.so compiler=gcc -fopenmp -fPIC -shared -DOPENED
 * simple: out={bin}/{program}-gcc-{mpi}-plain compiler=gcc compile='{cc} {c_flags}'
 * simple: out={bin}/{program}-gcc-{mpi} compiler=gcc compile='{cc} {c_flags}' -fopenmp
 * with_mpi: mpi.opened.{mpi} exe={bin}/{program}-gcc-{mpi} if="not sanitized" shape=2x2 --
 *     {exe}.so
 * with_mpi: mpi.opened_plain.{mpi} exe={bin}/{program}-gcc-{mpi}-plain if="not sanitized"
 *     shape=2x2 -- {bin}/{program}-gcc-{mpi}.so many # the OpenMP runtime comes with the library,
 *     too, and tasks are suspended all the same
 * once: mpi.in_world.{program}.{mpi} exe={bin}/{program}-gcc-{mpi} if="not sanitized"
 *     run='{sennit} run --worlds --mpi {mpi} -n 2 {exe} {exe}.so : -n 2 {exe}' -- {exe}.so # another
 *     library in front of Sennit has MPI's names, too
 * with_mpi: mpi.opened_other.{mpi} exe={bin}/{program}-gcc-{mpi}-plain
 *     if="not sanitized and len(mpis) == 2" processors= other={'openmpi' if mpi == 'mpich' else
 *     'mpich'} run='{sennit} run --mpi {other} -n 1 {exe}'
 *     pass='sennit: .*needs .*: start the program with --mpi {mpi}' --
 *     {bin}/{program}-gcc-{mpi}.so # the other MPI's library in front of it
 * A program that knows no MPI opens a library that does, for itself alone (RTLD_LOCAL), as Python
 * does with its extensions. This file is both: opened <library> [many]; `many`: more tasks block
 * than there are threads. */
#ifdef OPENED

#include "check.h"

enum { MANY = 8 };

static void block_all_threads(void) {
    int received[MANY];
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < MANY; ++i)
#pragma omp task
            MPI_Recv(&received[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < MANY; ++i)
#pragma omp task
            MPI_Ssend(&i, 1, MPI_INT, next(), i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < MANY; ++i)
        CHECK(received[i] == i);
}

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
    if (*argc > 2)
        block_all_threads();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

#else

#include <dlfcn.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "no library: %s\n", dlerror());
        return 2;
    }
#ifdef _OPENMP
    if (omp_get_max_threads() < 1)
        return 2;
#endif
    int (*run)(int *, char ***);
    *(void **)&run = dlsym(library, "run");
    return run(&argc, &argv);
}

#endif
