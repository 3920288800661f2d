/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: threads=2 SENNIT_SPLIT=inner OMP_STACKSIZE=64M
 *
 * sennit_inner_no_stacks.c - a worker that waits, and has no address space for the stack on which
 * it would help with another one's inner region, does not: the other one runs all of it. When there
 * is room again, it helps. (OMP_STACKSIZE=64M: no stack fits, and the program's own memory does.)
 */
#include "limited_memory.h"

#include <sys/syscall.h>

enum { kTries = 2000 };

/* How many threads of a region in a task others have run. */
static int helped(void) {
    int others = 0;
#pragma omp parallel shared(others)
#pragma omp single
#pragma omp task shared(others)
    {
        const long me = syscall(SYS_gettid);
#pragma omp parallel num_threads(8) reduction(+ : others)
        {
            usleep(1000);
            others += syscall(SYS_gettid) != me;
        }
    }
    return others;
}

int main(void) {
#pragma omp parallel
    usleep(1000);
    limit_addresses(40 << 20);
    for (int i = 0; i < 20; ++i)
        helped();
    set_limit(RLIMIT_AS, RLIM_INFINITY);
    int tries = 0;
    while (helped() == 0)
        CHECK(++tries < kTries);
    return 0;
}
