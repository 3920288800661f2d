/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line: options with a value, --check and --help. It is read before MPI is initialized,
 * for the version says at which level; so what is wrong is kept, for rank 0 to say it once.
 */
#ifndef COMMON_ARGUMENTS_H
#define COMMON_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct arguments {
    bool check, help;
    char problem[256]; /* empty: nothing is wrong */
};

/* False if the name is unknown, or the value is bad. */
struct options;
typedef bool value_reader(const char *name, const char *value, struct options *options);
/* All words, up to the first that is wrong; false: there was one. */
bool read_words(int argc, char **argv, struct arguments *arguments, value_reader *read_value,
                struct options *options);

/* Sizes and counts that programs take at most, so that products of two of them fit in a long. */
enum { most_things = 1 << 20 };
/* The whole text is a number within these bounds. */
bool read_number(const char *text, int least, int most, int *value);
/* AxB, both from 1 to most_things. */
bool read_pair(const char *text, int *a, int *b);
/* The same, or N for NxN. */
bool read_size(const char *text, int *a, int *b);

/* A version begins with its label. */
struct label {
    const char *name, *summary;
};
/* Of `count` entries of a table, `size` bytes each: the one with that name, or NULL. */
const void *find_label(const void *table, size_t count, size_t size, const char *name);
/* One line each; names are `width` wide. */
void print_labels(const void *table, size_t count, size_t size, int width);

#endif
