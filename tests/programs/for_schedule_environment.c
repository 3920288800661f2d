/* SPDX-License-Identifier: Apache-2.0
 * test: variant=static OMP_SCHEDULE={variant} EXPECTED=1,0
 * test: variant=static,10 OMP_SCHEDULE={variant} EXPECTED=1,10
 * test: variant=dynamic OMP_SCHEDULE={variant} EXPECTED=2,1
 * test: variant=guided,12 OMP_SCHEDULE={variant} EXPECTED=3,12
 * test: variant=auto OMP_SCHEDULE={variant} EXPECTED=4,1
 * test: variant=Monotonic:Dynamic,3 OMP_SCHEDULE={variant} EXPECTED=-2147483646,3
 * test: variant=nonmonotonic:guided OMP_SCHEDULE={variant} EXPECTED=3,1
 * test: variant=trapezoidal OMP_SCHEDULE={variant} EXPECTED=101,1
 * test: variant=trapezoidal,13 OMP_SCHEDULE={variant} EXPECTED=101,13
 * test: variant=static_steal,14 OMP_SCHEDULE={variant} EXPECTED=2,14 # LLVM's
 * test: variant=blanks 'OMP_SCHEDULE= dynamic , 4 ' EXPECTED=2,4
 *
 * OpenMP 5.2, 21.1.1: OMP_SCHEDULE with modifiers, blanks and LLVM's kinds. The arguments are what
 * omp_get_schedule has to say; the loop's iterations run once each. */
#include "check.h"

#define COUNT 10007

int main(void) {
    static unsigned char runs[COUNT];
    const char *text = getenv("EXPECTED"); /* kind,chunk */
    int kind = 0, chunk = 0, stored;
    omp_sched_t scheduled;
    CHECK(text && sscanf(text, "%d,%d", &kind, &chunk) == 2);
    omp_get_schedule(&scheduled, &stored);
    CHECK_EQ((unsigned)scheduled, (unsigned)kind);
    CHECK_EQ(stored, chunk);
    for (int rounds = 0; rounds < 3; ++rounds) {
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < COUNT; ++i)
            ++runs[i];
        for (int i = 0; i < COUNT; ++i)
            CHECK_EQ(runs[i], rounds + 1);
    }
    return 0;
}
