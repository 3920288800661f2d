/* SPDX-License-Identifier: Apache-2.0
 * Static loops that are let go: whoever runs an iteration, it does the same. */
#include <math.h>
#include <omp.h>

enum { N = 1000 };
double field[N], next[N];
int shape[N];

static double row(long i) {
    double sum = 0;
    for (long k = 0; k < i; ++k)
        sum += 1.0 / (double)(1 + k);
    return sum;
}

double reduced(long n, const double *x) {
    double sum = 0, most = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : most) // done: threads that are done may take over iterations of this static loop
    for (long i = 0; i < n; ++i) {
        sum += row(i) * x[i];
        most = fmax(most, x[i]);
    }
    return sum + most;
}

void in_a_region(int n, int from, const double *x) {
#pragma omp parallel
    {
#pragma omp for schedule(static) // done: threads that are done may take over iterations of this static loop
        for (int i = from; i < n; ++i)
            next[i] = x[i];
#pragma omp for nowait // done: threads that are done may take over iterations of this static loop
        for (unsigned long i = 0; i < (unsigned long)n; ++i)
            field[i] = next[i];
    }
}

void private_variables(int n, double factor) {
    int k;
#pragma omp parallel for private(k) firstprivate(factor) // done: threads that are done may take over iterations of this static loop
    for (int i = 0; i < n; ++i) {
        double own[4];
        for (k = 0; k < 4; ++k)
            own[k] = factor * k;
        field[i] = own[i % 4];
    }
}

void nest(int n) {
#pragma omp parallel for collapse(2) // done: threads that are done may take over iterations of this static loop
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; j += 2)
            next[(i + j) % N] = shape[i];
}

void counted(int n) {
    static int histogram[8];
#pragma omp parallel for // done: threads that are done may take over iterations of this static loop
    for (int i = n; i > 0; i -= 3) {
#pragma omp atomic
        ++histogram[shape[i] & 7];
#pragma omp critical
        field[0] += shape[i];
    }
}
