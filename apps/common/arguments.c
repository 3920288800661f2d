/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool read_words(int argc, char **argv, struct arguments *arguments, value_reader *read_value,
                struct options *options) {
    for (int i = 1; i < argc; ++i) {
        const char *name = argv[i];
        if (strcmp(name, "--help") == 0) {
            arguments->help = true;
        } else if (strcmp(name, "--check") == 0) {
            arguments->check = true;
        } else {
            const char *value = i + 1 < argc ? argv[++i] : NULL;
            if (value && read_value(name, value, options))
                continue;
            snprintf(arguments->problem, sizeof arguments->problem, "bad option %s%s%s; see --help",
                     name, value ? " " : "", value ? value : "");
            return false;
        }
    }
    return true;
}

/* A number at the beginning of the text; `end`: behind it. */
static bool begins_with_number(const char *text, int least, int most, int *value, char **end) {
    errno = 0;
    const long found = strtol(text, end, 10);
    *value = (int)found;
    return errno == 0 && *end != text && found >= least && found <= most;
}

bool read_number(const char *text, int least, int most, int *value) {
    char *end;
    return begins_with_number(text, least, most, value, &end) && *end == '\0';
}

bool read_pair(const char *text, int *a, int *b) {
    char *end;
    return begins_with_number(text, 1, most_things, a, &end) && *end == 'x' &&
           read_number(end + 1, 1, most_things, b);
}

bool read_size(const char *text, int *a, int *b) {
    if (!read_number(text, 1, most_things, a))
        return read_pair(text, a, b);
    *b = *a;
    return true;
}

static const struct label *label_at(const void *table, size_t size, size_t i) {
    return (const struct label *)((const char *)table + i * size);
}

const void *find_label(const void *table, size_t count, size_t size, const char *name) {
    for (size_t i = 0; i < count; ++i)
        if (strcmp(label_at(table, size, i)->name, name) == 0)
            return label_at(table, size, i);
    return NULL;
}

void print_labels(const void *table, size_t count, size_t size, int width) {
    for (size_t i = 0; i < count; ++i)
        printf("  %-*s %s\n", width, label_at(table, size, i)->name,
               label_at(table, size, i)->summary);
}
