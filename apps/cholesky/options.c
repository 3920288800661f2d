/* SPDX-License-Identifier: Apache-2.0 */
#include "cholesky.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: cholesky [options]\n"
    "  --n N            order of a made covariance matrix (default 1024)\n"
    "  --matrix FILE    read a Matrix Market file instead\n"
    "  --seed S         of the random points (default 1)\n"
    "  --block B        block size (default 128)\n"
    "  --grid PxQ       grid of ranks (default: as square as it gets)\n"
    "  --repeat R       factorize R times, report the fastest (default 1)\n"
    "  --no-check       do not verify the result\n"
    "  --json FILE      write the result as JSON, '-' for standard output\n";

static bool number(const char *text, long low, long high, long *value) {
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= low && *value <= high;
}

int read_options(int argc, char **argv, int rank, struct options *options) {
    *options = (struct options){.n = 1024, .block = 128, .repeat = 1, .seed = 1, .check = true};
    for (int i = 1; i < argc; ++i) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) {
            if (rank == 0)
                fputs(usage, stdout);
            return 0;
        }
        if (strcmp(name, "--no-check") == 0) {
            options->check = false;
            continue;
        }
        const char *value = i + 1 < argc ? argv[++i] : NULL;
        long parsed = 0;
        bool good = value != NULL;
        if (good && strcmp(name, "--n") == 0) {
            good = number(value, 1, 1 << 20, &parsed);
            options->n = (int)parsed;
        } else if (good && strcmp(name, "--block") == 0) {
            good = number(value, 1, 1 << 14, &parsed);
            options->block = (int)parsed;
        } else if (good && strcmp(name, "--repeat") == 0) {
            good = number(value, 1, 1000000, &parsed);
            options->repeat = (int)parsed;
        } else if (good && strcmp(name, "--seed") == 0) {
            good = number(value, 0, 1L << 62, &parsed);
            options->seed = (uint64_t)parsed;
        } else if (good && strcmp(name, "--grid") == 0) {
            int used = 0;
            good = sscanf(value, "%dx%d%n", &options->rows, &options->columns, &used) == 2 &&
                   value[used] == '\0' && options->rows > 0 && options->columns > 0;
        } else if (good && strcmp(name, "--matrix") == 0) {
            options->matrix = value;
        } else if (good && strcmp(name, "--json") == 0) {
            options->json = value;
        } else {
            good = false;
        }
        if (!good) {
            if (rank == 0)
                fprintf(stderr, "cholesky: bad option %s%s%s; see --help\n", name, value ? " " : "",
                        value ? value : "");
            return 2;
        }
    }
    return -1;
}
