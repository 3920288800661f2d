/* SPDX-License-Identifier: Apache-2.0
 * Runs a table of cases, a task each, each on a communicator of its own. Every rank starts them in
 * another order, so with one thread a call that blocks its thread would deadlock. */
#ifndef CASES_H
#define CASES_H

#include "check.h"

#include <string.h>

struct test_case {
    const char *name;
    void (*run)(MPI_Comm comm);
};

#define CASE(function) {#function, function}
#define COUNT_OF(array) (int)(sizeof(array) / sizeof *(array))

static inline void run_cases(const struct test_case *cases, int count, int rounds) {
    MPI_Comm *comms = malloc((size_t)count * sizeof *comms);
    int *done = calloc((size_t)count, sizeof *done);
    const char *only = getenv("CASE"); /* to look into one of them */
    for (int i = 0; i < count; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < count; ++i) {
            const int which = (i + 5 * rank + round) % count;
            if (only && strcmp(only, cases[which].name) != 0)
                continue;
#pragma omp task firstprivate(which)
            {
                cases[which].run(comms[which]);
                done[which] = 1;
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        CHECK(done[i] || only);
        MPI_Comm_free(&comms[i]);
    }
    free(comms);
    free(done);
}

#endif
