/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" # sanitizers have a memory of their own
 * test:
 * A peak of suspended tasks finds the stacks of the one before: mapping, touching and unmapping
 * each would take far longer than its task. When no peak comes again, the stacks go back to the
 * system.
 */
#include "sennit_door.h"
#include <sys/resource.h>
#include <unistd.h>

enum { SLEEPERS = 3000, FEW = 300, PERIODS_US = 1300000 };
static sennit_task *sleeper[SLEEPERS];

static long page_faults(void) {
    struct rusage usage;
    CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

static long stacks(void) {
    struct sennit_statistics statistics;
    CHECK_EQ(DOOR(sennit_get_statistics)(&statistics), SENNIT_SUCCESS);
    return (long)statistics.stacks_live;
}

/* `count` tasks are suspended at once, then resumed. Returns the page faults. */
static long peak(int count) {
    int asleep = 0, seen;
    const long before = page_faults();
#pragma omp taskgroup
    {
        for (int i = 0; i < count; ++i) {
#pragma omp task shared(asleep)
            {
                sleeper[i] = door_self();
#pragma omp atomic
                asleep += 1;
                DOOR(sennit_task_suspend)(sleeper[i]);
            }
        }
        do {
#pragma omp taskyield
#pragma omp atomic read
            seen = asleep;
        } while (seen < count);
        for (int i = 0; i < count; ++i)
            CHECK_EQ(DOOR(sennit_task_resume)(sleeper[i]), SENNIT_SUCCESS);
    }
    return page_faults() - before;
}

int main(void) {
#pragma omp parallel num_threads(1)
#pragma omp single
    {
        const long first = peak(SLEEPERS);
        const long second = peak(SLEEPERS);
        printf("%d suspended tasks: %ld page faults, then %ld; %ld stacks\n", SLEEPERS, first,
               second, stacks());
        CHECK(first > SLEEPERS);
        CHECK(second < SLEEPERS / 2);
        CHECK(stacks() >= SLEEPERS);
        /* Small peaks: all but a few of the stacks are not needed for a while. */
        for (int period = 0; period < 3; ++period) {
            usleep(PERIODS_US);
            for (int i = 0; i < SLEEPERS / FEW * 2; ++i)
                peak(FEW);
        }
        printf("later: %ld stacks\n", stacks());
        CHECK(stacks() < SLEEPERS / 2);
    }
    return 0;
}
