/* SPDX-License-Identifier: Apache-2.0
 * OpenMP 5.2, 11.5.3 and 18.2.11: schedule(runtime) follows run-sched-var, which
 * omp_set_schedule sets for the calling task and omp_get_schedule reads.
 */
#include "check.h"

int main(void) {
    static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
                                        omp_sched_auto};
    omp_set_dynamic(0);
    for (int k = 0; k < 4; ++k) {
        for (int chunk = 0; chunk <= 9; chunk += 3) {
            omp_sched_t kind;
            int stored, sum = 0, owner[200];
            omp_set_schedule(kinds[k], chunk);
            omp_get_schedule(&kind, &stored);
            CHECK_EQ(kind & ~omp_sched_monotonic, kinds[k]);
            if (chunk > 0 && kinds[k] != omp_sched_auto)
                CHECK_EQ(stored, chunk);
#pragma omp parallel reduction(+ : sum)
            {
                omp_sched_t inherited;
                int inherited_chunk;
                omp_get_schedule(&inherited, &inherited_chunk);
                CHECK_EQ(inherited, kind);
#pragma omp for schedule(runtime)
                for (int i = 0; i < 200; ++i) {
                    sum += i;
                    owner[i] = omp_get_thread_num();
                }
            }
            CHECK_EQ(sum, 19900);
            if (kinds[k] == omp_sched_static && chunk > 0)
                for (int i = 0; i < 200; ++i)
                    CHECK_EQ(owner[i], i / chunk % check_threads());
        }
    }
    return 0;
}
