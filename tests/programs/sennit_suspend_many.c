/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" # sanitizers have a memory of their own
 * test:
 * run: omp.sennit_suspend_60000.{compiler} threads=2 -- 60000 # past the guarded stacks
 *     (tasks/fiber/stack.h)
 * run: omp.sennit_suspend_huge.{compiler} threads=2
 *     run='sh -c "ulimit -s 1000000 && exec \"$0\" 20000 || echo skipped: the limit cannot be
 *     raised" {exe}'
 *     # stacks of a gigabyte, which no task touches
 * Memory alone bounds the number of suspended tasks. 10,000 of them (or as many as the argument
 * says) are suspended at once; each costs less than 16 KiB of resident memory. Their creator
 * resumes them, and all of them finish.
 */
#include "sennit_door.h"
#include <string.h>

enum { limit_kib = 16 };
static int sleepers = 10000;
static sennit_task **sleeper;

static long status_kib(const char *field) {
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    CHECK(status != NULL);
    while (fgets(line, sizeof line, status))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field), NULL, 10);
    fclose(status);
    CHECK(kib >= 0);
    return kib;
}

int main(int argc, char **argv) {
    if (argc > 1)
        sleepers = atoi(argv[1]);
    sleeper = calloc((size_t)sleepers, sizeof *sleeper);
    CHECK(sleeper != NULL);
    int asleep = 0, awake = 0;
    struct sennit_statistics statistics;
    DOOR(sennit_get_statistics)(&statistics);
#pragma omp parallel
#pragma omp single
    {
        const long before = status_kib("VmRSS:");
        for (int i = 0; i < sleepers; ++i) {
#pragma omp task shared(asleep, awake)
            {
                sleeper[i] = door_self();
#pragma omp atomic
                asleep += 1;
                DOOR(sennit_task_suspend)(sleeper[i]);
#pragma omp atomic
                awake += 1;
            }
        }
        int seen;
        do {
#pragma omp taskyield
#pragma omp atomic read
            seen = asleep;
        } while (seen < sleepers);
        const long used = status_kib("VmHWM:") - before;
        printf("%d suspended tasks: %.2f KiB of resident memory each at the peak\n", sleepers,
               (double)used / sleepers);
        CHECK_EQ(awake, 0);
        CHECK(used < (long)limit_kib * sleepers);
        for (int i = 0; i < sleepers; ++i)
            CHECK_EQ(DOOR(sennit_task_resume)(sleeper[i]), SENNIT_SUCCESS);
    }
    CHECK_EQ(awake, sleepers);
    CHECK_EQ(DOOR(sennit_get_statistics)(&statistics), SENNIT_SUCCESS);
    CHECK_EQ(statistics.suspended_now, 0);
    CHECK(statistics.suspended_peak >=
          (uint64_t)sleepers / 2); /* a resume may overtake its suspend */
    CHECK(statistics.tasks_created >= (uint64_t)sleepers);
    free(sleeper);
    return 0;
}
