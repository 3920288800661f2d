/* SPDX-License-Identifier: Apache-2.0
 * test:
 *
 * OpenMP 5.2, 5.4.6 and 5.4.5: linear variables have their value of the iteration and, afterwards,
 * that of the loop's end; lastprivate(conditional: x) keeps the last assignment in the order of
 * iterations, whichever thread made it. */
#include "check.h"

#define COUNT 1000

static void linear(void) {
    int seen[COUNT], at = 7;
    long step = 3, far = 100;
#pragma omp parallel for linear(at : 2) linear(far : step) schedule(dynamic, 7)
    for (int i = 0; i < COUNT; ++i) {
        seen[i] = at + (int)far;
        at += 2;
        far += step;
    }
    for (int i = 0; i < COUNT; ++i)
        CHECK_EQ(seen[i], 107 + 5 * i);
    CHECK_EQ(at, 7 + 2 * COUNT);
    CHECK_EQ(far, 100 + 3 * COUNT);
}

static void linear_pointer(void) {
    int data[COUNT], *at = data;
#pragma omp parallel for simd linear(at : 1) schedule(guided)
    for (int i = 0; i < COUNT; ++i) {
        *at = i;
        ++at;
    }
    CHECK(at == data + COUNT);
    for (int i = 0; i < COUNT; ++i)
        CHECK_EQ(data[i], i);
}

#ifndef __clang__ /* clang 19 forgets to begin anew when a loop runs again */
static int assigned(int iteration) {
    return iteration % 97 == 13;
}

static void conditional(void) {
    const int last = (COUNT - 1 - 13) / 97 * 97 + 13;
    int in_static = -1, in_dynamic = -1, in_guided = -1, never = -5;
    double value = 0;
#pragma omp parallel
    {
#pragma omp for lastprivate(conditional : in_static, value) schedule(static, 3)
        for (int i = 0; i < COUNT; ++i)
            if (assigned(i)) {
                in_static = i;
                value = i * 0.5;
            }
#pragma omp for lastprivate(conditional : in_dynamic) schedule(dynamic)
        for (int i = 0; i < COUNT; ++i)
            if (assigned(i))
                in_dynamic = i;
#pragma omp for lastprivate(conditional : in_guided) schedule(guided) nowait
        for (int i = 0; i < COUNT; ++i)
            if (assigned(i))
                in_guided = i;
#pragma omp for lastprivate(conditional : never)
        for (int i = 0; i < COUNT; ++i)
            if (assigned(i) && i > COUNT)
                never = i;
    }
    CHECK_EQ(in_static, last);
    CHECK(value == last * 0.5);
    CHECK_EQ(in_dynamic, last);
    CHECK_EQ(in_guided, last);
    CHECK_EQ(never, -5);
}
#endif

int main(void) {
    for (int round = 0; round < 20; ++round) {
        linear();
        linear_pointer();
#ifndef __clang__
        conditional();
#endif
    }
    return 0;
}
