/* SPDX-License-Identifier: Apache-2.0 */
#include "front.h"

#include <stdlib.h>
#include <string.h>

const char front_usage[] =
    "usage: front [--side DOMAINS] [--cells CELLS] [--steps STEPS] [--speed CELLS]\n"
    "             [--period STEPS] [--strategy NAME] [--count-from STEP]\n"
    "             [--loops parallel|taskloop|serial] [--domains tasks|threads|serial]\n"
    "             [--emulate NS] [--ratio TIMES] [--loads FILE]\n";

static int number(const char *text, int least, int most, int *value) {
    char *end;
    const long found = strtol(text, &end, 10);
    *value = (int)found;
    return *text && !*end && found >= least && found <= most;
}

static int real(const char *text, double most, double *value) {
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && *value > 0 && *value <= most;
}

/* Which of the words; -1: none. */
static int word(const char *text, const char *const *words, int count) {
    for (int i = 0; i < count; ++i)
        if (!strcmp(text, words[i]))
            return i;
    return -1;
}

static int read_option(const char *name, const char *value, front_options *options) {
    static const char *const kLoops[] = {"serial", "taskloop", "parallel"};
    static const char *const kDomains[] = {"tasks", "threads", "serial"};
    if (!strcmp(name, "--side"))
        return number(value, 1, 1024, &options->side);
    if (!strcmp(name, "--cells"))
        return number(value, 4, 4096, &options->cells);
    if (!strcmp(name, "--steps"))
        return number(value, 1, 10000000, &options->steps);
    if (!strcmp(name, "--count-from"))
        return number(value, 0, 10000000, &options->count_from);
    if (!strcmp(name, "--period"))
        return number(value, 0, 10000000, &options->period);
    if (!strcmp(name, "--strategy"))
        return *(options->strategy = value) != 0;
    if (!strcmp(name, "--loads"))
        return *(options->loads = value) != 0;
    if (!strcmp(name, "--speed"))
        return real(value, 1, &options->speed);
    if (!strcmp(name, "--ratio"))
        return real(value, 1e6, &options->ratio) && options->ratio >= 1;
    if (!strcmp(name, "--emulate")) {
        const int good = real(value, 1e9, &options->emulate_s);
        options->emulate_s *= 1e-9;
        return good;
    }
    if (!strcmp(name, "--loops")) {
        const int found = word(value, kLoops, 3);
        options->loops = (enum front_loops)found;
        return found >= 0;
    }
    if (!strcmp(name, "--domains")) {
        const int found = word(value, kDomains, 3);
        options->domains = (enum front_domains)found;
        return found >= 0;
    }
    return 0;
}

int asks_for_help(int argc, char **argv) {
    return argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
}

const char *read_options(int argc, char **argv, front_options *options) {
    *options = (front_options){.side = 8,
                               .cells = 64,
                               .period = 20,
                               .speed = 0.9,
                               .loops = loops_parallel,
                               .domains = domains_tasks,
                               .ratio = 27};
    for (int i = 1; i < argc; i += 2)
        if (!read_option(argv[i], i + 1 < argc ? argv[i + 1] : "", options))
            return "an option is unknown, or its value";
    /* Until the front has passed the whole mesh. */
    if (options->steps == 0)
        options->steps = (int)(1.42 * options->side * options->cells / options->speed) + 16;
    return options->count_from < options->steps ? NULL : "--count-from is behind the last step";
}
