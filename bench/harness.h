/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.h - what the benchmark programs share: the command line, calibration, timing, output.
 *
 * A program is a table of rows. A row's function does a fixed amount of work, checks its own result
 * and says how many units that was; the harness repeats it until a sample is long enough to time.
 * So the work of one call is the same under every runtime, and only the number of calls differs.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

/* Returned by a row that the runtime at hand cannot run. */
#define BENCH_UNAVAILABLE (-1L)

/* Exit status of a program whose row was unavailable: what test drivers read as "skipped". */
#define BENCH_EXIT_UNAVAILABLE 77

struct bench_row {
    const char *name;
    const char *unit;    /* what one nanosecond figure is about */
    const char *summary; /* one line for people */
    long size;           /* amount of work of one call; --size overrides it */
    long parameter;      /* what tells apart rows that share a function */
    /* Does the work and returns the number of units done, or BENCH_UNAVAILABLE. */
    long (*run)(long size, long parameter);
};

struct bench_program {
    const struct bench_row *rows;
    size_t row_count;
    /* Makes every process of a parallel program use the first one's number; null when alone. */
    long (*agree)(long value);
    /* Only one process of a program prints. */
    bool reporter;
};

/* Runs what the command line asks for; returns the exit status. */
int bench_main(int argc, char **argv, const struct bench_program *program);

/* Called by a row: what it does between the two calls is no part of its time. */
void bench_pause(void);
void bench_resume(void);

/* Ends the program with a message when a benchmark's own result is wrong. */
void bench_check(bool correct, const char *what);

#define BENCH_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
