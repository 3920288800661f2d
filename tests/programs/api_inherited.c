/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 2.4: a task inherits its data environment's ICVs when it is generated. What the
 * generating task sets afterwards is not for its children, nor is what they set for it.
 */
#include "check.h"

/* Tasks that are generated in an order that their dependences turn round. */
static void generate(int base) {
    int gate = 0;
#pragma omp task depend(out : gate) shared(gate)
    {
#pragma omp taskyield
        gate = 1;
    }
    for (int i = 1; i <= 20; ++i) {
        omp_set_num_threads(base + i);
        omp_set_schedule(omp_sched_dynamic, i);
#pragma omp task depend(in : gate) firstprivate(i)
        {
            omp_sched_t kind;
            int chunk = 0;
            omp_get_schedule(&kind, &chunk);
            CHECK_EQ(omp_get_max_threads(), base + i);
            CHECK_EQ(chunk, i);
            omp_set_num_threads(100 + i);
#pragma omp task firstprivate(i)
            CHECK_EQ(omp_get_max_threads(), 100 + i);
            omp_set_num_threads(200 + i);
#pragma omp taskwait
            CHECK_EQ(omp_get_max_threads(), 200 + i);
        }
        CHECK_EQ(omp_get_max_threads(), base + i);
    }
#pragma omp taskwait
}

int main(void) {
#pragma omp parallel
    {
        generate(1); /* an implicit task */
#pragma omp single
#pragma omp task
        generate(50); /* an explicit one */
    }
    return 0;
}
