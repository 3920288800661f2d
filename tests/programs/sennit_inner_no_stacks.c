/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: threads=2 SENNIT_SPLIT=inner OMP_STACKSIZE=64M
 *
 * sennit_inner_no_stacks.c - a worker that waits, and has no address space for the stack on which
 * it would help with another one's inner region, does not: the other one runs all of it. When there
 * is room again, it helps. (OMP_STACKSIZE=64M: no stack fits, and the program's own memory does.)
 */
#include "check.h"

#include <sys/resource.h>
#include <sys/syscall.h>

enum { kTries = 2000 };

static void limit_to(rlim_t bytes) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

static rlim_t address_space(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

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
    limit_to(address_space() + (40 << 20));
    for (int i = 0; i < 20; ++i)
        helped();
    limit_to(RLIM_INFINITY);
    int tries = 0;
    while (helped() == 0)
        CHECK(++tries < kTries);
    return 0;
}
