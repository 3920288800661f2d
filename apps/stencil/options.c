/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. What is wrong is kept, for rank 0 to say it once MPI is initialized.
 */
#include "stencil.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
    {"objects", "a strip is an object, and its loop is its thread's alone", true, run_objects},
    {"shared", "a strip is an object, and idle threads take rows of its loop", true, run_shared},
    {"openmp", "one loop over all rows, shared by all threads; one rank", false, run_plain},
};
enum { count = sizeof versions / sizeof *versions, most_cells = 1 << 20 };

static const struct version *find_version(const char *name) {
    for (int i = 0; i < count; ++i)
        if (strcmp(versions[i].name, name) == 0)
            return &versions[i];
    return NULL;
}

void print_usage(void) {
    fputs(usage, stdout);
    for (int i = 0; i < count; ++i)
        printf("  %-8s %s\n", versions[i].name, versions[i].summary);
}

/* Up to `end`; NULL: to the end of the text. */
static bool number(const char *text, int least, int *value, char **end) {
    char *stop;
    errno = 0;
    const long found = strtol(text, &stop, 10);
    *value = (int)found;
    if (end)
        *end = stop;
    return errno == 0 && stop != text && (end || *stop == '\0') && found >= least &&
           found <= most_cells;
}

/* N or ROWSxCOLUMNS. */
static bool size(const char *text, struct options *options) {
    char *end;
    if (!number(text, 1, &options->rows, &end))
        return false;
    options->columns = options->rows;
    return *end == '\0' || (*end == 'x' && number(end + 1, 1, &options->columns, NULL));
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
            return number(value, numbers[i].least, numbers[i].value, NULL);
    if (strcmp(name, "--version") == 0)
        return (options->version = find_version(value)) != NULL;
    return strcmp(name, "--size") == 0 && size(value, options);
}

static bool read_words(int argc, char **argv, struct options *options) {
    for (int i = 1; i < argc; ++i) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--help") == 0) {
            options->help = true;
        } else if (strcmp(name, "--check") == 0) {
            options->check = true;
        } else if (value && read_value(name, value, options)) {
            ++i;
        } else {
            snprintf(options->problem, sizeof options->problem, "bad option %s%s%s; see --help",
                     name, value ? " " : "", value ? value : "");
            return false;
        }
    }
    return true;
}

void read_options(int argc, char **argv, struct options *options) {
    *options = (struct options){.version = find_version("shared"),
                                .rows = 4096,
                                .columns = 4096,
                                .strips = 16,
                                .steps = 100};
    if (read_words(argc, argv, options) && options->strips > options->rows)
        snprintf(options->problem, sizeof options->problem, "%d rows cannot be dealt to %d strips",
                 options->rows, options->strips);
}
