/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test:
 * setjmp and longjmp inside of one task or implicit task, across scheduling points: the jump stays
 * on the stack of the task, which the runtime must leave where it is.
 */
#include "check.h"
#include <setjmp.h>

static int jump(int depth) {
    jmp_buf target;
    volatile int tries = 0;
    const int got = setjmp(target);
    if (got < depth) {
        tries += 1;
        int child = 0;
#pragma omp task shared(child)
        child = 1;
#pragma omp taskyield
#pragma omp taskwait
        CHECK_EQ(child, 1);
        longjmp(target, got + 1);
    }
    return tries;
}

int main(void) {
    int done = 0;
#pragma omp parallel reduction(+ : done)
    {
        done += jump(3);
#pragma omp single
        for (int i = 0; i < 50; ++i) {
#pragma omp task shared(done)
            CHECK_EQ(jump(i), i);
        }
    }
    CHECK_EQ(done, 3 * check_threads());
    return 0;
}
