/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" # libgomp has less without a limit, libomp more
 * run: omp.task_stacks.{limit}.{compiler} threads=2 limit=1000000|unlimited
 *     run='sh -c "ulimit -s {limit} && exec \"$0\" || echo skipped: the limit cannot be raised"
 *     {exe}'
 * Threads' and tasks' automatic arrays of 20 MB, under a larger limit of the stack and no
 * OMP_STACKSIZE: a thread's stack is as large as the stock runtimes make it. Tasks that go on after
 * others have begun have arrays of the same size.
 */
#include "check.h"
#include <omp.h>
#include <string.h>

enum { bytes = 20000 << 10, tasks = 20 };

static __attribute__((noinline)) int fill(int value) {
    char array[bytes];
    memset(array, value, sizeof array);
    __asm__ volatile("" ::"r"(array) : "memory"); /* it is needed */
#pragma omp taskyield
    return array[5000] + array[bytes - 1];
}

int main(void) {
    int sum = 0, threads = 0;
#pragma omp parallel reduction(+ : sum, threads)
    {
        sum += fill(1);
        ++threads;
    }
    CHECK(sum == 2 * threads);
    sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(sum)
        {
            const int mine = fill(1);
#pragma omp atomic
            sum += mine;
        }
    }
    CHECK(sum == 2 * tasks);
    return 0;
}
