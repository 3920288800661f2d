/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc # of GNU C
 * test:
 * GNU C: a nested function that is passed as an argument is called through code on the stack of its
 * host. That works in tasks too, wherever they run and whatever they have waited for.
 */
#include "check.h"

enum { tasks = 200, rounds = 3 };

__attribute__((noinline)) static void apply(void (*function)(int), int argument) {
    function(argument);
}

__attribute__((noinline)) static int host(int n) {
    int sum = n;
    void add(int x) {
#pragma omp taskyield
        sum += x;
    }
    apply(add, 1);
#pragma omp taskyield
    apply(add, 2);
    return sum;
}

static int sorted(int n) {
    int comparisons = 0;
    int by_value(const void *a, const void *b) {
        ++comparisons;
        return *(const int *)a - *(const int *)b;
    }
    int values[] = {n, 5, 3, 8, 1, 7, 2, 6};
    qsort(values, 8, sizeof(int), by_value);
    return comparisons > 0 && values[0] == 1 && values[6] == 8 && values[7] == n;
}

int main(void) {
    for (int round = 0; round < rounds; ++round) {
        int sum = 0;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(sum)
            {
                int mine = host(i), child = 0;
#pragma omp task shared(child)
                child = host(1);
#pragma omp taskyield
#pragma omp taskwait
                CHECK(sorted(10 + i));
#pragma omp atomic
                sum += mine + child;
            }
        }
        CHECK_EQ(sum, tasks * (tasks - 1) / 2 + tasks * (3 + 4));
    }
    return 0;
}
