/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 11.5.3 and 18.2.11: schedule(runtime) follows run-sched-var, which
 * omp_set_schedule sets for the calling task and omp_get_schedule reads. A modifier of the clause
 * holds whatever that says.
 */
#include "check.h"

#include <string.h>
#include <unistd.h>

/* Each thread's iterations ascend (11.5.3). The first half takes longer than the second, so that
 * threads without that modifier would go back to it. */
static int last[64], descents;
static void meet(int i) {
    int *mine = &last[omp_get_thread_num()];
    if (i < *mine)
#pragma omp atomic
        ++descents;
    *mine = i;
    usleep(i < 30 ? 500 : 10);
}
static void monotonic(omp_sched_t kind) {
    omp_set_schedule(kind, 1);
    descents = 0;
    memset(last, 0, sizeof last);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (int i = 0; i < 60; ++i)
        meet(i);
    CHECK_EQ(descents, 0);
    memset(last, 0, sizeof last);
#pragma omp parallel for schedule(monotonic : runtime)
    for (int i = 0; i < 60; ++i)
        meet(i);
    CHECK_EQ(descents, 0);
}

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
    for (int k = 0; k < 4; ++k)
        monotonic(kinds[k]);
    return 0;
}
