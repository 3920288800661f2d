/* SPDX-License-Identifier: Apache-2.0
 * test: sample="compiler == 'gcc'"
 * OpenMP 5.2, 15.9.5 (depend): in after out, out after every in, in beside in; distinct locations
 * do not order; dependences hold between siblings only.
 */
#include "check.h"

static void readers_between_writers(void) {
    int x = 0, readers = 0;
    for (int step = 0; step < 50; ++step) {
#pragma omp task depend(out : x) shared(x, readers)
        {
            CHECK_EQ(readers, 3 * step);
            x = step + 1;
        }
        for (int r = 0; r < 3; ++r) {
#pragma omp task depend(in : x) shared(x, readers) firstprivate(step)
            {
                CHECK_EQ(x, step + 1);
#pragma omp atomic
                readers += 1;
            }
        }
    }
#pragma omp taskwait
    CHECK_EQ(readers, 150);
}

static void a_chain_runs_in_order(void) {
    int x = 0;
    for (int i = 0; i < 1000; ++i) {
#pragma omp task depend(inout : x) shared(x)
        CHECK_EQ(x++, i);
    }
#pragma omp taskwait
    CHECK_EQ(x, 1000);
}

static void an_undeferred_task_waits_for_its_predecessors(void) {
    int x = 0;
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : x) shared(x)
        x += 1;
    }
#pragma omp task depend(in : x) if (0) shared(x)
    CHECK_EQ(x, 20);
#pragma omp task depend(inout : x) shared(x)
    x += 1;
#pragma omp task final(1) depend(inout : x) shared(x)
    {
        CHECK_EQ(x, 21);
        x += 1;
    }
#pragma omp taskwait
    CHECK_EQ(x, 22);
}

static void many_locations_in_one_task(void) {
    int cell[16] = {0};
    for (int round = 1; round <= 20; ++round) {
        for (int i = 0; i < 16; i += 4) {
#pragma omp task depend(out : cell[i], cell[i + 1], cell[i + 2], cell[i + 3]) shared(cell)
            for (int k = 0; k < 4; ++k)
                cell[i + k] = round;
        }
#pragma omp task depend(in : cell[0], cell[4], cell[8], cell[12])                                  \
    depend(inout : cell[1], cell[6], cell[11]) depend(in : cell[0], cell[0]) shared(cell)
        for (int i = 0; i < 16; ++i)
            CHECK_EQ(cell[i], round);
#pragma omp task depend(inout : cell[0], cell[4], cell[8], cell[12], cell[2], cell[7]) shared(cell)
        CHECK_EQ(cell[15], round);
    }
#pragma omp taskwait
}

static void only_siblings_are_ordered(void) {
    int x = 0, inner = 0;
#pragma omp task depend(inout : x) shared(x, inner)
    {
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : x) shared(x, inner)
            inner += 1 + x;
        }
#pragma omp taskwait
    }
#pragma omp task depend(inout : x) shared(x, inner)
    CHECK_EQ(inner + x, 10);
#pragma omp taskwait
}

int main(void) {
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel
#pragma omp single
        {
            readers_between_writers();
            a_chain_runs_in_order();
            an_undeferred_task_waits_for_its_predecessors();
            many_locations_in_one_task();
            only_siblings_are_ordered();
        }
    }
    return 0;
}
