/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: %s [options]\n"
    "  --n N            order of the matrix or grid (default %d)\n"
    "  --block B        tile size (default %d)\n"
    "  --grid PxQ       grid of ranks (default: as square as it gets)\n"
    "  --repeat R       R rounds, report the fastest (default 1)\n"
    "  --variant V      how data is exchanged: interop-blocking (default), blocking, singlecom,\n"
    "                   taskyield, detach, interop-nonblocking\n"
    "  --priorities P   what priority clauses say: none (default), sends, path, depth\n"
    "  --emulate        kernels hold their thread for as long as they would take, without its "
    "core\n"
    "  --rates A,B,..   GFLOP/s of a core when emulating: potrf,trsm,syrk,gemm,sweep\n"
    "                   (default 20,35,38,42,2)\n"
    "  --link US,MB/s[,BYTES]  the network's latency and bandwidth, and the longest message that "
    "is\n"
    "                   sent unasked (default: any), for the bound that is printed\n"
    "  --no-check       do not verify the result\n"
    "  --json FILE      write the result as JSON, '-' for standard output\n"
    "cholesky:\n"
    "  --matrix FILE    read a Matrix Market file instead of making a covariance matrix\n"
    "  --seed S         of its random points (default 1)\n"
    "  --buffers B      that each row of blocks is received into in turn (default 0: one a block;\n"
    "                   the papers' program has 1)\n"
    "wavefront:\n"
    "  --sweeps S       over the grid (default 10)\n";

static bool number(const char *text, long low, long high, long *value) {
    char *end;
    errno = 0;
    *value = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= low && *value <= high;
}

/* The index of a word, or -1. */
static int word(const char *text, int count, const char *const *words) {
    for (int i = 0; i < count; ++i)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

/* Up to `count` positive numbers with commas between. */
static bool numbers(const char *text, int least, int count, double *values) {
    for (int i = 0; i < count; ++i) {
        char *end;
        values[i] = strtod(text, &end);
        if (end == text || !(values[i] >= 0.0) || (*end != ',' && *end != '\0'))
            return false;
        if (*end == '\0')
            return i + 1 >= least;
        text = end + 1;
    }
    return false;
}

static bool read_value(const char *name, const char *value, struct options *options) {
    static const char *const marks[] = {"none", "sends", "path", "depth"};
    long parsed = 0;
    bool good = true;
    if (strcmp(name, "--n") == 0) {
        good = number(value, 1, 1 << 20, &parsed);
        options->n = (int)parsed;
    } else if (strcmp(name, "--block") == 0) {
        good = number(value, 1, 1 << 14, &parsed);
        options->block = (int)parsed;
    } else if (strcmp(name, "--repeat") == 0) {
        good = number(value, 1, 1000000, &parsed);
        options->repeat = (int)parsed;
    } else if (strcmp(name, "--sweeps") == 0) {
        good = number(value, 1, 10000, &parsed);
        options->sweeps = (int)parsed;
    } else if (strcmp(name, "--seed") == 0) {
        good = number(value, 0, 1L << 62, &parsed);
        options->seed = (uint64_t)parsed;
    } else if (strcmp(name, "--buffers") == 0) {
        good = number(value, 0, 1 << 20, &parsed);
        options->buffers = (int)parsed;
    } else if (strcmp(name, "--grid") == 0) {
        int used = 0;
        good = sscanf(value, "%dx%d%n", &options->rows, &options->columns, &used) == 2 &&
               value[used] == '\0' && options->rows > 0 && options->columns > 0;
    } else if (strcmp(name, "--variant") == 0) {
        const int found = word(value, variants, variant_names);
        good = found >= 0;
        options->variant = (enum variant)found;
    } else if (strcmp(name, "--priorities") == 0) {
        const int found = word(value, 4, marks);
        good = found >= 0;
        options->marks = (enum marks)found;
    } else if (strcmp(name, "--rates") == 0) {
        good = numbers(value, 1, kernels, options->rate);
        for (int i = 0; i < kernels; ++i)
            good = good && options->rate[i] > 0.0;
    } else if (strcmp(name, "--link") == 0) {
        double link[3] = {0, 0, DBL_MAX};
        good = numbers(value, 2, 3, link);
        options->latency = link[0] * 1e-6;
        options->bandwidth = link[1] * 1e6;
        options->eager = link[2];
    } else if (strcmp(name, "--matrix") == 0) {
        options->matrix = value;
    } else if (strcmp(name, "--json") == 0) {
        options->json = value;
    } else {
        good = false;
    }
    return good;
}

int read_options(int argc, char **argv, int rank, struct options *options) {
    const char *slash = strrchr(argv[0], '/');
    const char *program = slash ? slash + 1 : argv[0];
    static const double rates[kernels] = {20.0, 35.0, 38.0, 42.0, 2.0};
    memcpy(options->rate, rates, sizeof rates);
    for (int i = 1; i < argc; ++i) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) {
            if (rank == 0)
                printf(usage, program, options->n, options->block);
            return 0;
        }
        if (strcmp(name, "--no-check") == 0) {
            options->check = false;
            continue;
        }
        if (strcmp(name, "--emulate") == 0) {
            options->emulate = true;
            continue;
        }
        const char *value = i + 1 < argc ? argv[++i] : NULL;
        if (!value || !read_value(name, value, options)) {
            if (rank == 0)
                fprintf(stderr, "%s: bad option %s%s%s; see --help\n", program, name,
                        value ? " " : "", value ? value : "");
            return 2;
        }
    }
    return -1;
}
