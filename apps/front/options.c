/* SPDX-License-Identifier: Apache-2.0 */
#include "front.h"

#include <stdlib.h>
#include <string.h>

const char front_usage[] =
    "usage: front [--side DOMAINS] [--cells CELLS] [--steps STEPS] [--speed CELLS]\n"
    "             [--period STEPS] [--strategy NAME] [--loops serial|parallel|taskloop]\n";

static int number(const char *text, int least, int most, int *value) {
    char *end;
    const long found = strtol(text, &end, 10);
    *value = (int)found;
    return *text && !*end && found >= least && found <= most;
}

const char *read_options(int argc, char **argv, front_options *options) {
    static const char *const kLoops[] = {"serial", "parallel", "taskloop"};
    *options = (front_options){8, 64, 0, 20, 0.9, loops_parallel, NULL};
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        int good = 0;
        if (!strcmp(name, "--side"))
            good = number(value, 1, 1024, &options->side);
        else if (!strcmp(name, "--cells"))
            good = number(value, 4, 4096, &options->cells);
        else if (!strcmp(name, "--steps"))
            good = number(value, 1, 10000000, &options->steps);
        else if (!strcmp(name, "--period"))
            good = number(value, 0, 10000000, &options->period);
        else if (!strcmp(name, "--strategy"))
            good = *(options->strategy = value) != 0;
        else if (!strcmp(name, "--speed"))
            good = (options->speed = atof(value)) > 0 && options->speed <= 1;
        else if (!strcmp(name, "--loops"))
            for (int k = 0; k < 3; ++k)
                if (!strcmp(value, kLoops[k])) {
                    options->loops = (enum front_loops)k;
                    good = 1;
                }
        if (!good)
            return "an option is unknown, or its value";
    }
    /* Until the front has passed the whole mesh. */
    if (options->steps == 0)
        options->steps = (int)(1.42 * options->side * options->cells / options->speed) + 16;
    return NULL;
}
