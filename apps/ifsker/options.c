/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line, and the versions.
 */
#include "ifsker.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: ifsker [options]\n"
    "  --version V   one of the list below (default interop-blk)\n"
    "  --grid LONGITUDESxLATITUDES\n"
    "                points of a field (default 1280x512)\n"
    "  --fields N    values of a point (default 16)\n"
    "  --steps N     steps in time (default 200)\n"
    "  --pieces N    of a rank's strip: each is a task in physics, and a message for each field\n"
    "                (default 2)\n"
    "  --check       the way there and back, the sum of all values, and a rank that is alone\n"
    "versions:\n";

static const struct version versions[] = {
    {{"pure", "MPI only: a rank a core, one message after the other"},
     false,
     blocking,
     make_steps_pure},
    {{"interop-blk", "tasks call MPI_Send and MPI_Recv, by MPI_TASK_MULTIPLE"},
     true,
     blocking,
     make_steps_tasks},
    {{"interop-nonblk", "tasks call MPI_Isend, MPI_Irecv and TAMPI_Iwait"},
     true,
     bound,
     make_steps_tasks},
};
enum { size = sizeof *versions, count = sizeof versions / size };

const struct version *find_version(const char *name) {
    return find_label(versions, count, size, name);
}

void print_usage(void) {
    fputs(usage, stdout);
    print_labels(versions, count, size, 15);
}

static bool read_value(const char *name, const char *value, struct options *options) {
    if (strcmp(name, "--version") == 0)
        return (options->version = find_version(value)) != NULL;
    if (strcmp(name, "--grid") == 0)
        return read_pair(value, &options->shape.longitudes, &options->shape.latitudes);
    if (strcmp(name, "--fields") == 0)
        return read_number(value, 1, most_things, &options->shape.fields);
    if (strcmp(name, "--steps") == 0)
        return read_number(value, 0, most_things, &options->steps);
    if (strcmp(name, "--pieces") == 0)
        return read_number(value, 1, most_things, &options->pieces);
    return false;
}

void read_options(int argc, char **argv, struct options *options) {
    *options = (struct options){.version = find_version("interop-blk"),
                                .shape = {1280, 512, 16},
                                .steps = 200,
                                .pieces = 2};
    read_words(argc, argv, &options->arguments, read_value, options);
}
