/* SPDX-License-Identifier: Apache-2.0
 * simple: out={bin}/mixed/part.{compiler}.o group=mixed if="clang and not sanitized"
 *     -DPART={compiler} -c
 * The half of mixed_main.c that GCC and Clang compile each, with PART set to the compiler's name.
 */
#include "check.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

long JOIN(PART, sum)(int n);
void JOIN(PART, chain)(int *x, int n);
int JOIN(PART, level)(void);

/* A region of its own, nested when the caller is inside one. */
long JOIN(PART, sum)(int n) {
    long sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum) schedule(dynamic, 3)
    for (int i = 0; i < n; ++i)
        sum += i;
    return sum;
}

/* Dependent tasks of the caller's region: they order after those of the other compiler. */
void JOIN(PART, chain)(int *x, int n) {
    for (int i = 0; i < n; ++i) {
#pragma omp task depend(inout : *x) firstprivate(x)
        {
            const int before = *x;
#pragma omp taskyield
            *x = before + 1;
        }
    }
}

int JOIN(PART, level)(void) {
    return omp_get_level();
}
