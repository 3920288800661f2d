/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" compiler=gcc # tasks wait in TSan's own functions
 * test: threads=2
 * docs/user/openmp.md, "Blocking calls of libc": steps of a computation, and a checkpoint of each
 * block that a task writes and syncs while tasks compute the next step. Arguments: MiB of a block,
 * sweeps of a step, file. Prints how long the files, the computation and both together take, and
 * checks what the last checkpoint holds. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { blocks = 4, steps = 4 };
enum what { files = 1, compute = 2, both = 3 };

static size_t length; /* numbers in a block */
static int sweeps;
static double *block[blocks], *saved[blocks];

static void advance(double *numbers, double *copy) {
    for (int sweep = 0; sweep < sweeps; ++sweep)
        for (size_t i = 0; i < length; ++i)
            numbers[i] = numbers[i] * 0.5 + 1;
    for (size_t i = 0; i < length; ++i)
        copy[i] = numbers[i];
}

static void save(int file, const double *numbers, int number) {
    const size_t bytes = length * sizeof *numbers;
    CHECK_EQ(pwrite(file, numbers, bytes, (off_t)(number * bytes)), (ssize_t)bytes);
    CHECK_EQ(fsync(file), 0);
}

/* A block's next step waits for its checkpoint only where that has not yet left the copy. */
static double run(int file, enum what what) {
    const double begin = omp_get_wtime();
#pragma omp parallel
#pragma omp single
    for (int step = 0; step < steps; ++step)
        for (int i = 0; i < blocks; ++i) {
            if (what & compute) {
#pragma omp task depend(inout : block[i]) depend(out : saved[i])
                advance(block[i], saved[i]);
            }
            if (what & files) {
#pragma omp task depend(in : saved[i])
                save(file, saved[i], i);
            }
        }
    return omp_get_wtime() - begin;
}

int main(int argc, char **argv) {
    const size_t mib = argc > 1 ? (size_t)atoi(argv[1]) : 1;
    sweeps = argc > 2 ? atoi(argv[2]) : 2;
    char own[] = "/tmp/sennit-checkpoint-XXXXXX";
    const char *path = argc > 3 ? argv[3] : own;
    const int file = argc > 3 ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : mkstemp(own);
    CHECK(file >= 0);
    length = (mib << 20) / sizeof(double);
    for (int i = 0; i < blocks; ++i) {
        block[i] = calloc(length, sizeof(double));
        saved[i] = calloc(length, sizeof(double));
        CHECK(block[i] && saved[i]);
    }
    run(file, both); /* what memory and the disk do the first time */
    printf("files %.3f s\n", run(file, files));
    printf("computation %.3f s\n", run(file, compute));
    printf("both %.3f s\n", run(file, both));

    double *got = malloc(length * sizeof *got);
    CHECK(got);
    for (int i = 0; i < blocks; ++i) {
        const size_t bytes = length * sizeof *got;
        CHECK_EQ(pread(file, got, bytes, (off_t)(i * bytes)), (ssize_t)bytes);
        for (size_t k = 0; k < length; ++k)
            CHECK(got[k] == block[i][k] && got[k] > 1);
        free(block[i]);
        free(saved[i]);
    }
    free(got);
    close(file);
    unlink(path);
    return 0;
}
