/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line.
 */
#include "gauss_seidel.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: gauss-seidel [options]\n"
    "  --version V          one of the list below (default interop-blk)\n"
    "  --size ROWSxCOLUMNS  cells of the grid (default 2048x2048); N: NxN\n"
    "  --block ROWSxCOLUMNS cells of a block (default 1024x1024); N: NxN\n"
    "  --iterations N       at the end, those of a checkpoint included (default 100)\n"
    "  --sources FILE       heat sources, a line each: X Y RANGE TEMPERATURE\n"
    "  --check              compare with a serial solver, bit by bit\n"
    "  --picture FILE       the grid at the end, as PNG\n"
    "  --checkpoint FILE    the grid at the end, as HDF5\n"
    "  --checkpoint-every N and after every N iterations\n"
    "  --restart FILE       go on from a checkpoint: it has the grid's size and border\n"
    "versions:\n";

void print_usage(void) {
    fputs(usage, stdout);
    print_versions();
}

static bool read_value(const char *name, const char *value, struct options *options) {
    const struct {
        const char *name, **file;
    } files[] = {{"--sources", &options->sources},
                 {"--picture", &options->picture},
                 {"--checkpoint", &options->checkpoint},
                 {"--restart", &options->restart}};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        if (strcmp(name, files[i].name) == 0) {
            *files[i].file = value;
            return *value != '\0';
        }
    if (strcmp(name, "--version") == 0)
        return (options->version = find_version(value)) != NULL;
    if (strcmp(name, "--size") == 0) {
        options->sized = true;
        return read_size(value, &options->rows, &options->columns);
    }
    if (strcmp(name, "--block") == 0)
        return read_size(value, &options->block.rows, &options->block.columns);
    if (strcmp(name, "--iterations") == 0)
        return read_number(value, 0, INT_MAX, &options->iterations);
    if (strcmp(name, "--checkpoint-every") == 0)
        return read_number(value, 1, INT_MAX, &options->every);
    return false;
}

/* What each option alone cannot tell. */
static const char *contradiction(const struct options *options) {
    if (options->every && !options->checkpoint)
        return "--checkpoint-every needs --checkpoint FILE";
    if (options->restart && (options->sources || options->sized))
        return "--restart has the size and the border: leave --size and --sources out";
    if (options->picture && !can_draw())
        return "--picture: this build is without libpng (libpng-dev)";
    if ((options->checkpoint || options->restart) && !can_checkpoint())
        return "--checkpoint and --restart: this build is without HDF5 (libhdf5-dev)";
    return NULL;
}

void read_options(int argc, char **argv, struct options *options) {
    *options = (struct options){.version = find_version("interop-blk"),
                                .rows = 2048,
                                .columns = 2048,
                                .iterations = 100,
                                .block = {1024, 1024}};
    struct arguments *arguments = &options->arguments;
    if (!read_words(argc, argv, arguments, read_value, options))
        return;
    const char *found = contradiction(options);
    if (found)
        snprintf(arguments->problem, sizeof arguments->problem, "%s", found);
}
