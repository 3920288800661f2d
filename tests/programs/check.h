/* SPDX-License-Identifier: Apache-2.0
 *
 * What every test program shares. A failed CHECK prints one line that says what does not hold and
 * ends the process at once: a wrong result must never turn into a hang at the next barrier.
 * Without the runtime's help, so the same binaries run under libgomp, libomp and Sennit.
 */
#ifndef CHECK_H
#define CHECK_H

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The condition holds, or the program ends with exit code 1. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, #condition);                                          \
    } while (0)

/* Two integers are equal; prints both when they are not. */
#define CHECK_EQ(actual, expected)                                                                 \
    check_equal(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))

static inline void check_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    _exit(1);
}

static inline void check_equal(const char *file, int line, const char *what, long long actual,
                               long long expected) {
    if (actual == expected)
        return;
    fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", file, line, what, actual, expected);
    _exit(1);
}

/* How many threads the tests' parallel regions have: OMP_NUM_THREADS or the machine's choice. */
static inline int check_threads(void) {
    return omp_get_max_threads();
}

/* xorshift64*: the same sequence for the same seed on every machine. */
static inline uint64_t check_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

#endif
