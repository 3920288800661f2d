/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line, and the versions.
 */
#include "stencil.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: stencil [options]\n"
    "  --version V          one of the list below (default shared)\n"
    "  --size ROWSxCOLUMNS  cells of the matrix (default 4096x4096); N: NxN\n"
    "  --strips N           objects, each of whole rows (default 16)\n"
    "  --steps N            (default 100)\n"
    "  --period N           steps between two calls of the balancer (default 0: never)\n"
    "  --check              compare with the exact solution\n"
    "versions:\n";

static const struct version versions[] = {
    {{"objects", "a strip is an object, and its loop is its thread's alone"}, true, run_objects},
    {{"shared", "a strip is an object, and idle threads take rows of its loop"}, true, run_shared},
    {{"openmp", "one loop over all rows, shared by all threads; one rank"}, false, run_plain},
};
enum { size = sizeof *versions, count = sizeof versions / size };

static const struct version *find_version(const char *name) {
    return find_label(versions, count, size, name);
}

void print_usage(void) {
    fputs(usage, stdout);
    print_labels(versions, count, size, 8);
}

static bool read_value(const char *name, const char *value, struct options *options) {
    const struct {
        const char *name;
        int least, *value;
    } numbers[] = {{"--strips", 1, &options->strips},
                   {"--steps", 0, &options->steps},
                   {"--period", 0, &options->period}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        if (strcmp(name, numbers[i].name) == 0)
            return read_number(value, numbers[i].least, most_things, numbers[i].value);
    if (strcmp(name, "--version") == 0)
        return (options->version = find_version(value)) != NULL;
    return strcmp(name, "--size") == 0 && read_size(value, &options->rows, &options->columns);
}

void read_options(int argc, char **argv, struct options *options) {
    *options = (struct options){.version = find_version("shared"),
                                .rows = 4096,
                                .columns = 4096,
                                .strips = 16,
                                .steps = 100};
    struct arguments *arguments = &options->arguments;
    if (read_words(argc, argv, arguments, read_value, options) && options->strips > options->rows)
        snprintf(arguments->problem, sizeof arguments->problem,
                 "%d rows cannot be dealt to %d strips", options->rows, options->strips);
}
