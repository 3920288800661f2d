/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.c - see harness.h. Prints one line per row:
 *   <row> threads=<n> unit=<unit> calls=<calls per sample> ns=<ns per unit>,<ns per unit>,...
 */
#define _GNU_SOURCE
#include "harness.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_SAMPLES = 1000 };

struct options {
    const char *row;
    long threads;   /* 0 = what the environment says */
    long size;      /* 0 = the row's own */
    long samples;   /* timed samples */
    long sample_ms; /* length that a sample should have at least */
    long budget_ms; /* no further sample once the timed ones took this long */
    long calls;     /* > 0: exactly that many calls, no timing */
};

/* sennit.h; null under another runtime. */
const char *sennit_version(void) __attribute__((weak));

static const struct bench_program *the_program;

void bench_check(bool correct, const char *what) {
    if (correct)
        return;
    fprintf(stderr, "bench: wrong result: %s\n", what);
    _Exit(EXIT_FAILURE);
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double paused_at, paused_ns;

void bench_pause(void) {
    paused_at = now_ns();
}

void bench_resume(void) {
    paused_ns += now_ns() - paused_at;
}

/* Time that rows have spent outside of pauses, from some moment on. */
static double row_ns(void) {
    return now_ns() - paused_ns;
}

static long agree(long value) {
    return the_program->agree ? the_program->agree(value) : value;
}

/* Runs `calls` calls; returns the units done, or BENCH_UNAVAILABLE. */
static long run_calls(const struct bench_row *row, long size, long calls) {
    long units = 0;
    for (long call = 0; call < calls; ++call) {
        const long done = row->run(size, row->parameter);
        if (done == BENCH_UNAVAILABLE)
            return BENCH_UNAVAILABLE;
        units += done;
    }
    return units;
}

/* The number of calls that makes a sample last sample_ns: also the warm-up. 0 = unavailable. */
static long calibrate(const struct bench_row *row, long size, double sample_ns) {
    enum { MAX_GROWTH = 10 };
    for (long calls = 1;;) {
        const double start = row_ns();
        if (run_calls(row, size, calls) == BENCH_UNAVAILABLE)
            return 0;
        const double elapsed = row_ns() - start;
        double growth = sample_ns / (elapsed > 1 ? elapsed : 1);
        if (growth > MAX_GROWTH)
            growth = MAX_GROWTH;
        /* One process decides for all, or they would wait for calls that the others never make. */
        const long next = agree(growth > 1.5 ? (long)((double)calls * growth) + 1 : calls);
        if (next == calls)
            return calls;
        calls = next;
    }
}

static int run_row(const struct bench_row *row, const struct options *options) {
    const long size = options->size ? options->size : row->size;
    const bool reporter = the_program->reporter;
    long threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    bench_check(threads == omp_get_max_threads(), "the team has fewer threads than asked for");

    if (options->calls) {
        const long units = run_calls(row, size, options->calls);
        if (units == BENCH_UNAVAILABLE)
            return BENCH_EXIT_UNAVAILABLE;
        if (reporter)
            printf("%s threads=%ld unit=%s calls=%ld units=%ld\n", row->name, threads, row->unit,
                   options->calls, units);
        return EXIT_SUCCESS;
    }

    const long calls = calibrate(row, size, (double)options->sample_ms * 1e6);
    if (calls == 0)
        return BENCH_EXIT_UNAVAILABLE;
    double samples[MAX_SAMPLES];
    long count = 0;
    const double begin = now_ns();
    do {
        const double start = row_ns();
        const long units = run_calls(row, size, calls);
        samples[count++] = (row_ns() - start) / (double)units;
    } while (
        agree(count < options->samples && now_ns() - begin < (double)options->budget_ms * 1e6));
    if (reporter) {
        printf("%s threads=%ld unit=%s calls=%ld ns=", row->name, threads, row->unit, calls);
        for (long i = 0; i < count; ++i)
            printf("%s%.4g", i ? "," : "", samples[i]);
        printf("\n");
    }
    return EXIT_SUCCESS;
}

/* Which library the loader really took: the path of the object that defines an omp_ function. No
 * dlsym: a program that imports it might suspend tasks for all that Sennit knows, and would not run
 * as an ordinary OpenMP program does. */
static void print_info(void) {
    Dl_info info = {0};
    int (*thread_num)(void) = omp_get_thread_num;
    if (!dladdr(*(void **)&thread_num, &info) || !info.dli_fname)
        info.dli_fname = "unknown";
    printf("runtime=%s\nsennit=%s\nopenmp=%d\ncompiler=" __VERSION__ "\n", info.dli_fname,
           sennit_version ? sennit_version() : "", _OPENMP);
}

static void print_rows(void) {
    for (size_t i = 0; i < the_program->row_count; ++i) {
        const struct bench_row *row = &the_program->rows[i];
        printf("%s\t%s\t%ld\t%s\n", row->name, row->unit, row->size, row->summary);
    }
}

static int usage(const char *self) {
    fprintf(
        stderr,
        "usage: %s <row>|all [--threads N] [--size N] [--samples N] [--sample-ms N]\n"
        "       %*s          [--budget-ms N] [--calls N]\n"
        "       %s --list | --info\n"
        "--calls runs exactly N calls without timing; --list shows the rows (name, unit, size,\n"
        "summary), --info which OpenMP runtime was loaded.\n",
        self, (int)strlen(self), "", self);
    return 2;
}

static bool parse(int argc, char **argv, struct options *options) {
    const struct {
        const char *name;
        long *value;
        long max;
    } table[] = {
        {"--threads", &options->threads, 1 << 16},     {"--size", &options->size, 1L << 40},
        {"--samples", &options->samples, MAX_SAMPLES}, {"--sample-ms", &options->sample_ms, 60000},
        {"--budget-ms", &options->budget_ms, 3600000}, {"--calls", &options->calls, 1L << 40},
    };
    for (int i = 1; i < argc; ++i) {
        if (strncmp(argv[i], "--", 2) != 0) {
            if (options->row)
                return false;
            options->row = argv[i];
            continue;
        }
        size_t entry = 0;
        while (entry < BENCH_COUNT(table) && strcmp(argv[i], table[entry].name) != 0)
            ++entry;
        if (entry == BENCH_COUNT(table) || ++i == argc)
            return false;
        char *end;
        const long value = strtol(argv[i], &end, 10);
        if (end == argv[i] || *end || value < 1 || value > table[entry].max)
            return false;
        *table[entry].value = value;
    }
    return options->row;
}

int bench_main(int argc, char **argv, const struct bench_program *program) {
    the_program = program;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        print_rows();
        return EXIT_SUCCESS;
    }
    if (argc == 2 && strcmp(argv[1], "--info") == 0) {
        print_info();
        return EXIT_SUCCESS;
    }
    struct options options = {.samples = 5, .sample_ms = 10, .budget_ms = 3600000};
    if (!parse(argc, argv, &options))
        return usage(argv[0]);
    if (options.threads)
        omp_set_num_threads((int)options.threads);

    const bool all = strcmp(options.row, "all") == 0;
    bool found = false;
    for (size_t i = 0; i < program->row_count; ++i) {
        if (!all && strcmp(options.row, program->rows[i].name) != 0)
            continue;
        found = true;
        const int status = run_row(&program->rows[i], &options);
        if (status != EXIT_SUCCESS && !(all && status == BENCH_EXIT_UNAVAILABLE))
            return status;
    }
    if (!found) {
        fprintf(stderr, "bench: no row '%s'; --list shows them\n", options.row);
        return 2;
    }
    return EXIT_SUCCESS;
}
