/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line. It is read before MPI is initialized, for the version says at which level; so
 * what is wrong is kept, for rank 0 to say it once.
 */
#include "ifsker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
    {"pure", "MPI only: a rank a core, one message after the other", false, blocking,
     make_steps_pure},
    {"interop-blk", "tasks call MPI_Send and MPI_Recv, by MPI_TASK_MULTIPLE", true, blocking,
     make_steps_tasks},
    {"interop-nonblk", "tasks call MPI_Isend, MPI_Irecv and TAMPI_Iwait", true, bound,
     make_steps_tasks},
};
enum { count = sizeof versions / sizeof *versions };

const struct version *find_version(const char *name) {
    for (int i = 0; i < count; ++i)
        if (strcmp(versions[i].name, name) == 0)
            return &versions[i];
    return NULL;
}

void print_usage(void) {
    fputs(usage, stdout);
    for (int i = 0; i < count; ++i)
        printf("  %-15s %s\n", versions[i].name, versions[i].summary);
}

static bool number(const char *text, int least, int *value, char **end) {
    enum { most = 1 << 20 };
    errno = 0;
    const long found = strtol(text, end, 10);
    *value = (int)found;
    return errno == 0 && *end != text && found >= least && found <= most;
}

static bool whole_number(const char *text, int least, int *value) {
    char *end;
    return number(text, least, value, &end) && *end == '\0';
}

static bool grid(const char *text, struct shape *shape) {
    char *end;
    return number(text, 1, &shape->longitudes, &end) && *end == 'x' &&
           whole_number(end + 1, 1, &shape->latitudes);
}

static bool read_value(const char *name, const char *value, struct options *options) {
    if (strcmp(name, "--version") == 0)
        return (options->version = find_version(value)) != NULL;
    if (strcmp(name, "--grid") == 0)
        return grid(value, &options->shape);
    if (strcmp(name, "--fields") == 0)
        return whole_number(value, 1, &options->shape.fields);
    if (strcmp(name, "--steps") == 0)
        return whole_number(value, 0, &options->steps);
    if (strcmp(name, "--pieces") == 0)
        return whole_number(value, 1, &options->pieces);
    return false;
}

void read_options(int argc, char **argv, struct options *options) {
    *options = (struct options){.version = find_version("interop-blk"),
                                .shape = {1280, 512, 16},
                                .steps = 200,
                                .pieces = 2};
    for (int i = 1; i < argc; ++i) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) {
            options->help = true;
        } else if (strcmp(name, "--check") == 0) {
            options->check = true;
        } else {
            const char *value = i + 1 < argc ? argv[++i] : NULL;
            if (value && read_value(name, value, options))
                continue;
            snprintf(options->problem, sizeof options->problem, "bad option %s%s%s; see --help",
                     name, value ? " " : "", value ? value : "");
            return;
        }
    }
}
