/* SPDX-License-Identifier: Apache-2.0
 * A program of a pool that computes until its input ends, and reaches a scheduling point every
 * GRAIN microseconds: loops whose chunks take so long.
 *
 * usage: chunks GRAIN; says "begins", and at its end how many loops it has run. Ends with 1 if one
 * of them came to a wrong sum.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CHUNKS = 64 };

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

int main(int argc, char **argv) {
    const double grain = argc > 1 ? atof(argv[1]) : 0;
    if (grain <= 0) {
        fprintf(stderr, "usage: chunks GRAIN\n");
        return 2;
    }
    printf("begins\n");
    fflush(stdout);
    long loops = 0;
    for (struct pollfd input = {STDIN_FILENO, POLLIN, 0}; poll(&input, 1, 0) == 0; ++loops) {
        long sum = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
        for (int i = 0; i < CHUNKS; ++i) {
            for (const double end = now_us() + grain; now_us() < end;) {
            }
            sum += i;
        }
        if (sum != CHUNKS * (CHUNKS - 1) / 2)
            return 1;
    }
    printf("%ld\n", loops);
    return 0;
}
