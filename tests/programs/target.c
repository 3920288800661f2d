// SPDX-License-Identifier: Apache-2.0
// test:
// OpenMP 5.2, 1.3, 13.8, 13.3: target regions where there is no device run on the host, with the
// clauses that say what happens to data; nowait and depend order them among tasks.
#include "check.h"

enum { n = 1000 };

#pragma omp declare target
static int twice(int x) {
    return 2 * x;
}
static int global = 5;
#pragma omp end declare target

static void clauses(void) {
    int scalar = 1, mapped = 2, array[4] = {1, 2, 3, 4};
#pragma omp target map(tofrom : mapped) firstprivate(scalar)
    {
        scalar += 10;
        mapped = twice(mapped) + scalar;
    }
    CHECK_EQ(scalar, 1);
    CHECK_EQ(mapped, 15);
    // A scalar is firstprivate unless defaultmap says otherwise.
#pragma omp target
    scalar = 7;
    CHECK_EQ(scalar, 1);
#pragma omp target defaultmap(tofrom : scalar)
    scalar = 7;
    CHECK_EQ(scalar, 7);
#pragma omp target map(tofrom : array[1 : 2]) private(mapped)
    {
        mapped = 0;
        array[1] += array[2];
    }
    CHECK_EQ(array[1], 5);
    CHECK_EQ(mapped, 15);
#pragma omp target map(always, tofrom : global)
    ++global;
    CHECK_EQ(global, 6);
    int *pointer = array;
#pragma omp target is_device_ptr(pointer)
    pointer[3] = 40;
    CHECK_EQ(array[3], 40);
#pragma omp target data map(tofrom : array) use_device_addr(array)
#pragma omp target has_device_addr(array)
    array[0] = 9;
    CHECK_EQ(array[0], 9);
    int sum = 0;
#pragma omp target if (0) map(tofrom : sum)
    sum += array[0];
#pragma omp target device(omp_get_initial_device()) map(tofrom : sum)
    sum += omp_is_initial_device();
    CHECK_EQ(sum, 10);
}

static void data(void) {
    int a[n], sum = 0;
    for (int i = 0; i < n; ++i)
        a[i] = i;
#pragma omp target data map(tofrom : a)
    {
#pragma omp target
        for (int i = 0; i < n; ++i)
            ++a[i];
#pragma omp target update from(a)
        CHECK_EQ(a[n - 1], n);
        a[0] = 100;
#pragma omp target update to(a[0 : 1])
    }
#pragma omp target enter data map(to : a)
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < n; ++i)
        sum += a[i];
#pragma omp target exit data map(from : a)
    CHECK_EQ(sum, n * (n + 1) / 2 + 99);
}

static void combined(int teams) {
    static int hits[n];
    int sum = 0, members = 0;
#pragma omp target teams distribute parallel for num_teams(teams) map(tofrom : hits)               \
    reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
        ++hits[i];
        sum += i;
    }
    CHECK_EQ(sum, n * (n - 1) / 2);
#pragma omp target parallel for map(tofrom : hits)
    for (int i = 0; i < n; ++i)
        ++hits[i];
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : hits)
    for (int i = 0; i < n / 10; ++i)
        for (int j = 0; j < 10; ++j)
            ++hits[10 * i + j];
    for (int i = 0; i < n; ++i) {
        CHECK_EQ(hits[i], 3);
        hits[i] = 0;
    }
#pragma omp target teams num_teams(teams) map(tofrom : members)
#pragma omp parallel num_threads(3)
#pragma omp atomic
    ++members;
    CHECK(members >= 1 && members <= 3 * teams);
#pragma omp target map(tofrom : members)
    {
        members = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
        for (int i = 0; i < 100; ++i) {
#pragma omp task shared(members)
#pragma omp atomic
            ++members;
        }
    }
    CHECK_EQ(members, 100);
}

// Each region sees what the one before it left, and none runs before the task in front.
static void order(void) {
    int x = 0, y = 1;
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < 50; ++round) {
        x = 0;
#pragma omp task depend(out : x) shared(x)
        x = 1;
#pragma omp target nowait depend(inout : x) map(tofrom : x) firstprivate(y)
        x = x == 1 ? 2 + y - 1 : -1;
        y = 99; // the region has its copy
#pragma omp target enter data map(to : x) nowait depend(inout : x)
#pragma omp target update to(x) nowait depend(inout : x)
#pragma omp target depend(inout : x) map(tofrom : x)
        x = x == 2 ? 3 : -2;
        CHECK_EQ(x, 3);
#pragma omp target exit data map(from : x) nowait depend(inout : x)
#pragma omp target teams nowait depend(inout : x) map(tofrom : x) num_teams(1)
        x = x == 3 ? 4 : -3;
#pragma omp taskwait
        CHECK_EQ(x, 4);
        y = 1;
#pragma omp taskgroup
        {
#pragma omp target nowait map(tofrom : x)
            ++x;
        }
        CHECK_EQ(x, 5);
#pragma omp task final(1) shared(x)
        {
#pragma omp target nowait depend(inout : x) map(tofrom : x)
            ++x;
#pragma omp taskwait
        }
#pragma omp taskwait
        CHECK_EQ(x, 6);
    }
}

int main(void) {
    clauses();
    data();
    combined(1);
    combined(3);
    order();
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) {
        int mine = i;
#pragma omp target map(tofrom : mine)
        ++mine;
        sum += mine;
    }
    CHECK_EQ(sum, 5050);
    return 0;
}
