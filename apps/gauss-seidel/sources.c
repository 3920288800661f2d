/* SPDX-License-Identifier: Apache-2.0
 *
 * Heat sources, which make the temperatures of the border. A line of the file is
 *
 *     X Y RANGE TEMPERATURE      # a comment
 *
 * X and Y are 0 to 1, from the left and from the top; within RANGE the temperature falls to 0, and
 * where sources overlap it is the sum. Empty lines are skipped.
 */
#include "gauss_seidel.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct source built_in[] = {{0.0, 0.0, 1.0, 2.5}, {0.5, 1.0, 1.0, 2.5}};

double temperature_at(const struct sources *sources, double x, double y) {
    double sum = 0.0;
    for (int i = 0; i < sources->count; ++i) {
        const struct source *source = &sources->list[i];
        const double dx = x - source->x, dy = y - source->y;
        const double distance = sqrt(dx * dx + dy * dy);
        if (distance < source->range)
            sum += source->temperature * ((source->range - distance) / source->range);
    }
    return sum;
}

static void add(struct sources *sources, struct source source) {
    const size_t size = (size_t)(sources->count + 1) * sizeof source;
    sources->list = need(realloc(sources->list, size), "the heat sources");
    sources->list[sources->count++] = source;
}

/* Up to `most` numbers; how many there are, or -1: something else is there. */
static int numbers(const char *text, int most, double *values) {
    int found = 0;
    for (;; ++found) {
        while (isspace((unsigned char)*text))
            ++text;
        if (*text == '\0')
            return found;
        char *end;
        const double value = strtod(text, &end);
        if (end == text || found == most || !isfinite(value) ||
            (*end != '\0' && !isspace((unsigned char)*end)))
            return -1;
        values[found] = value;
        text = end;
    }
}

static const char *read_line(const char *text, struct sources *sources) {
    double value[4];
    const int found = numbers(text, 4, value);
    if (found == 0)
        return NULL;
    if (found != 4)
        return "expected four numbers: X Y RANGE TEMPERATURE";
    if (value[0] < 0.0 || value[0] > 1.0 || value[1] < 0.0 || value[1] > 1.0)
        return "X and Y must be 0 to 1";
    if (value[2] <= 0.0)
        return "RANGE must be more than 0";
    add(sources, (struct source){value[0], value[1], value[2], value[3]});
    return NULL;
}

static int read_file(const char *path, struct sources *sources) {
    FILE *file = fopen(path, "r");
    if (!file) {
        say(0, "%s: %s", path, strerror(errno));
        return bad_input;
    }
    char *text = NULL;
    size_t room = 0;
    const char *problem = NULL;
    long line = 0;
    for (ssize_t length; !problem && (length = getline(&text, &room, file)) >= 0;) {
        ++line;
        if (strlen(text) != (size_t)length)
            problem = "a zero byte";
        text[strcspn(text, "#")] = '\0';
        if (!problem)
            problem = read_line(text, sources);
    }
    if (!problem && ferror(file))
        problem = "cannot be read";
    if (!problem && sources->count == 0)
        problem = "no heat source";
    if (problem)
        say(0, "%s:%ld: %s", path, line > 0 ? line : 1, problem);
    free(text);
    fclose(file);
    return problem ? bad_input : 0;
}

int read_sources(const char *path, int rank, struct sources *sources) {
    *sources = (struct sources){0, NULL};
    int head[2] = {0, 0}; /* exit code, sources */
    if (rank == 0) {
        if (path)
            head[0] = read_file(path, sources);
        else
            for (size_t i = 0; i < sizeof built_in / sizeof *built_in; ++i)
                add(sources, built_in[i]);
        head[1] = sources->count;
    }
    MPI_Bcast(head, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (head[0])
        return head[0];
    if (rank != 0) {
        sources->count = head[1];
        sources->list = need(malloc((size_t)head[1] * sizeof *sources->list), "the heat sources");
    }
    MPI_Bcast(sources->list, 4 * head[1], MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return 0;
}
