/* SPDX-License-Identifier: Apache-2.0
 *
 * lent.c - a static loop that the compiler plug-in lets go, against the same with the schedule of
 * OMP_SCHEDULE.
 *
 * lent static|runtime triangular|balanced ITERATIONS RUNS prints the microseconds of the best run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double work(long length) {
    double sum = 0;
    for (long k = 0; k < length; ++k)
        sum += 1.0 / (double)(1 + k);
    return sum;
}

#define PRAGMA(text) _Pragma(#text)
#define LOOP(name, kind)                                                                           \
    static double name(long iterations, long least, long more) {                                   \
        double sum = 0;                                                                            \
        PRAGMA(omp parallel for schedule(kind) reduction(+ : sum))                                 \
        for (long i = 0; i < iterations; ++i)                                                      \
            sum += work(least + i * more);                                                         \
        return sum;                                                                                \
    }
LOOP(as_static, static)
LOOP(at_runtime, runtime)

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s static|runtime triangular|balanced ITERATIONS RUNS\n", argv[0]);
        return 2;
    }
    const int is_static = strcmp(argv[1], "static") == 0;
    const int is_triangular = strcmp(argv[2], "triangular") == 0;
    const long iterations = atol(argv[3]);
    double best = 1e30, sum = 0;
    for (long run = atol(argv[4]); run > 0; --run) {
        const double begin = microseconds();
        sum += (is_static ? as_static : at_runtime)(iterations, is_triangular ? 0 : iterations / 2,
                                                    is_triangular);
        const double time = microseconds() - begin;
        best = time < best ? time : best;
    }
    printf("%.1f\n", best);
    return sum < 0;
}
