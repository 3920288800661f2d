/* SPDX-License-Identifier: Apache-2.0
 * rank: -fPIE -pie -DWITH_MPI -- -pthread
 * Allocates windows, argv[1] of them, and uses argv[2] MiB of its stack meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int deep(long mib) {
    volatile char some[1 << 20];
    memset((char *)some, (int)mib, sizeof some);
    return mib <= 1 ? 0 : deep(mib - 1) + some[mib] - (char)mib;
}

static void use(size_t bytes, int rank, int size) {
    char *memory;
    MPI_Win window;
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, rank, bytes);
    MPI_Win_fence(0, window);
    char got = -1;
    const int next = (rank + 1) % size;
    MPI_Get(&got, 1, MPI_CHAR, next, (MPI_Aint)bytes - 1, 1, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    if (got != (char)next) {
        fprintf(stderr, "rank %d read %d from rank %d\n", rank, got, next);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_free(&window);
}

int main(int count, char **words) {
    int rank, size, bad = deep(count > 2 ? atol(words[2]) : 1);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bad |= deep(count > 2 ? atol(words[2]) : 1);
    for (int i = 0; i < atoi(words[1]); ++i)
        use(4096u << (i % 4), rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts(bad ? "the stack is wrong" : "well");
    MPI_Finalize();
    return 0;
}
