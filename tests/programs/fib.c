/* SPDX-License-Identifier: Apache-2.0
 * test, tool, valgrind: # stock libomp asserts on an undeferred untied task
 * Recursive tasks that wait for their children, two a level (BOTS shape), tied and untied, with and
 * without if and final cut-offs.
 */
#include "check.h"

static long fib(int n) {
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static long fib_untied(int n) {
    long a, b;
    if (n < 2)
        return n;
#pragma omp task untied shared(a) if (n > 8)
    a = fib_untied(n - 1);
#pragma omp task untied shared(b) final(n < 6)
    b = fib_untied(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void) {
    long tied = 0, untied = 0;
#pragma omp parallel
#pragma omp single
    {
        tied = fib(22);
        untied = fib_untied(20);
    }
    CHECK_EQ(tied, 17711);
    CHECK_EQ(untied, 6765);
    return 0;
}
