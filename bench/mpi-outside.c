/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi-outside - what an MPI call outside of tasks costs more than the MPI library's own. Two ranks
 * send to each other, block by block in turn with the functions that the program is bound to, where
 * a layer may sit, and with the MPI library's own, looked up in that library, which leads past
 * every layer. Both kinds see the same processors, memory and moods of the machine, so that the
 * blocks' ratio holds still where the times of two processes do not.
 *
 * usage: mpi-outside pingpong|exchange BYTES TRIPS PAIRS: prints, for each pair of blocks, the
 * nanoseconds of a round trip by the program's door and by the library's. A round trip is
 *   pingpong   MPI_Send and MPI_Recv, first one rank, then the other
 *   exchange   MPI_Irecv, MPI_Isend and MPI_Waitall, both at once
 */
#define _GNU_SOURCE

#include "harness.h"

#include <dlfcn.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct door {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*ireceive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*waitall)(int, MPI_Request *, MPI_Status *);
};
/* Nanoseconds of a round trip. */
typedef double block_of(const struct door *door, unsigned char *buffer, int bytes, long trips);

static int my_rank;

/* The MPI library's own function: not the one that the program is bound to, if something lies
 * between. */
static void own(const char *name, void *function) {
    static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.40", "libmpi.so.12"};
    for (size_t i = 0; i < BENCH_COUNT(libraries); ++i) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *found = library ? dlsym(library, name) : NULL;
        if (found) {
            memcpy(function, &found, sizeof found);
            return;
        }
    }
    bench_check(false, "the MPI library's own functions");
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Not to be inlined: both doors go through the same instructions. */
__attribute__((noinline)) static double pingpong(const struct door *door, unsigned char *buffer,
                                                 int bytes, long trips) {
    const int peer = 1 - my_rank;
    const double start = nanoseconds();
    for (long i = 0; i < trips; ++i) {
        if (my_rank == 0) {
            buffer[0] = (unsigned char)i;
            door->send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        }
        door->receive(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        bench_check(buffer[0] == (unsigned char)i, "contents of a message");
        if (my_rank == 1)
            door->send(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
    return (nanoseconds() - start) / (double)trips;
}

__attribute__((noinline)) static double exchange(const struct door *door, unsigned char *buffer,
                                                 int bytes, long trips) {
    const int peer = 1 - my_rank;
    unsigned char *const in = buffer + bytes;
    const double start = nanoseconds();
    for (long i = 0; i < trips; ++i) {
        MPI_Request requests[2];
        buffer[0] = (unsigned char)i;
        door->ireceive(in, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
        door->isend(buffer, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
        door->waitall(2, requests, MPI_STATUSES_IGNORE);
        bench_check(in[0] == (unsigned char)i, "contents of a message");
    }
    return (nanoseconds() - start) / (double)trips;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    bench_check(argc == 5 && omp_get_max_threads() > 0,
                "usage: mpi-outside pingpong|exchange BYTES TRIPS PAIRS");
    block_of *const block = strcmp(argv[1], "exchange") == 0 ? exchange : pingpong;
    const int bytes = atoi(argv[2]);
    const long trips = atol(argv[3]), pairs = atol(argv[4]);
    struct door doors[2] = {{MPI_Send, MPI_Recv, MPI_Isend, MPI_Irecv, MPI_Waitall}};
    own("PMPI_Send", &doors[1].send);
    own("PMPI_Recv", &doors[1].receive);
    own("PMPI_Isend", &doors[1].isend);
    own("PMPI_Irecv", &doors[1].ireceive);
    own("PMPI_Waitall", &doors[1].waitall);
    unsigned char *buffer = calloc((size_t)bytes, 2);
    bench_check(bytes > 0 && buffer, "memory for a message");
    for (long pair = -1; pair < pairs; ++pair) { /* the first one warms up */
        double took[2];
        for (int turn = 0; turn < 2; ++turn) {
            const int which =
                (int)((turn + pair + 2) % 2); /* each door is first in every other pair */
            took[which] = block(&doors[which], buffer, bytes, trips);
        }
        if (my_rank == 0 && pair >= 0)
            printf("%.1f %.1f\n", took[0], took[1]);
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
