/* SPDX-License-Identifier: Apache-2.0
 * test, policies, split, tool, valgrind:
 * OpenMP 5.2, 15.9.5: for seeded random sequences of tasks with random dependences the memory is
 * what the sequential execution of the program leaves. mutexinoutset tasks commute, so do adds.
 */
#include "check.h"
#include <string.h>

enum { cells = 13, tasks = 3000, graphs = 8 };

struct step {
    int write, read[2], kind; /* kind: 0 write depends out, 1 inout, 2 mutexinoutset */
    uint32_t salt;
};

static void execute(const struct step *step, uint32_t *memory) {
    const uint32_t input = memory[step->read[0]] ^ (memory[step->read[1]] >> 3);
    if (step->kind == 0)
        memory[step->write] = input * 31 + step->salt;
    else if (step->kind == 1)
        memory[step->write] = memory[step->write] * 17 + input + step->salt;
    else
        memory[step->write] += step->salt;
}

int main(void) {
    static struct step program[tasks];
    for (uint64_t graph = 1; graph <= graphs; ++graph) {
        uint32_t serial[cells + 1] = {0}, parallel[cells + 1] = {0};
        uint64_t random = graph * 77;
        for (int t = 0; t < tasks; ++t) {
            struct step *step = &program[t];
            step->write = (int)(check_random(&random) % cells);
            step->kind = (int)(check_random(&random) % 3);
            step->salt = (uint32_t)check_random(&random);
            for (int r = 0; r < 2; ++r)
                step->read[r] = step->kind == 2 ? cells : (int)(check_random(&random) % cells);
            execute(step, serial);
        }
#pragma omp parallel
#pragma omp single
        for (int t = 0; t < tasks; ++t) {
            const struct step *step = &program[t];
            uint32_t *w = &parallel[step->write], *a = &parallel[step->read[0]],
                     *b = &parallel[step->read[1]];
            if (step->kind == 0) {
#pragma omp task depend(out : *w) depend(in : *a, *b)
                execute(step, parallel);
            } else if (step->kind == 1) {
#pragma omp task depend(inout : *w) depend(in : *a) depend(in : *b)
                execute(step, parallel);
            } else {
#pragma omp task depend(mutexinoutset : *w)
                execute(step, parallel);
            }
            if (t % 1000 == 999) {
#pragma omp taskwait
            }
        }
        CHECK(memcmp(serial, parallel, sizeof serial) == 0);
    }
    return 0;
}
