/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

#include <stdlib.h>

static int divisor_near_root(int number) {
    int best = 1;
    for (int one = 1; one * one <= number; ++one)
        if (number % one == 0)
            best = one;
    return best;
}

place first_place(const front_options *options, int ranks, int threads, int domain) {
    const int columns = divisor_near_root(ranks), inner = divisor_near_root(threads);
    const int wide = columns * inner, high = ranks * threads / wide; /* in threads */
    const int x = (int)((long)(domain % options->side) * wide / options->side);
    const int y = (int)((long)(domain / options->side) * high / options->side);
    const int rows = threads / inner;
    return (place){y / rows * columns + x / inner, y % rows * inner + x % inner};
}

static int heavier(const void *a, const void *b) {
    const domain *const one = *(domain *const *)a, *const other = *(domain *const *)b;
    if (one->spent_s != other->spent_s)
        return one->spent_s > other->spent_s ? -1 : 1;
    if (one->y != other->y)
        return one->y - other->y;
    return one->x - other->x;
}

void deal(domain **domains, int count, int threads) {
    double *load = calloc((size_t)threads, sizeof *load);
    if (!load)
        return; /* they stay with those that they were dealt to on their old rank */
    qsort(domains, (size_t)count, sizeof(domain *), heavier);
    for (int i = 0; i < count; ++i) {
        int least = 0;
        for (int thread = 1; thread < threads; ++thread)
            if (load[thread] < load[least])
                least = thread;
        domains[i]->thread = least;
        load[least] += domains[i]->spent_s;
    }
    free(load);
}
