/* SPDX-License-Identifier: Apache-2.0
 *
 * Static loops that the plug-in lets go: each iteration is run once, and sums are right. With
 * "lent" as argument, iterations have to be taken over: the threads that have them wait for them.
 */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000, ROUNDS = 30 };
static int seen[N];
static double table[N];

static void check(int right, const char *what) {
    if (!right) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

static int each_once(int from, int to, int step, int times) {
    int right = 1;
    for (int i = 0; i < N; ++i) {
        const int wanted = i >= from && i < to && (i - from) % step == 0 ? times : 0;
        right &= seen[i] == wanted;
        seen[i] = 0;
    }
    return right;
}

static double work(int i) {
    double sum = 0;
    for (int k = 0; k < i; ++k)
        sum += table[k % N];
    return sum;
}

static void shapes(int n) {
    long sum = 0;
    for (int round = 0; round < ROUNDS; ++round) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < n; ++i) {
            ++seen[i];
            sum += i + (long)work(i % 64);
        }
    }
    check(each_once(0, n, 1, ROUNDS), "each iteration once");
    check(sum == (long)ROUNDS * n * (n - 1) / 2, "sum");
#pragma omp parallel
    {
#pragma omp for
        for (unsigned i = 3; i < (unsigned)n; i += 7)
            ++seen[i];
#pragma omp for
        for (long i = n - 1; i >= 0; i -= 1)
            ++seen[i];
#pragma omp for
        for (long i = n - 1; i >= 0; i -= 1)
            seen[i] -= 1;
    }
    check(each_once(3, n, 7, 1), "steps");
#pragma omp parallel for collapse(2)
    for (unsigned long i = 0; i < 50; ++i)
        for (unsigned long j = 0; j < 20; ++j)
            ++seen[i * 20 + j];
    check(each_once(0, 1000, 1, 1), "collapsed");
}

/* At the ends of their types. */
static void edges(void) {
    int count = 0;
#pragma omp parallel for reduction(+ : count)
    for (int i = INT_MAX - 100; i < INT_MAX; ++i)
        ++count;
#pragma omp parallel for reduction(+ : count)
    for (unsigned long i = ULONG_MAX; i > ULONG_MAX - 10; --i)
        ++count;
#pragma omp parallel for reduction(+ : count)
    for (long i = LONG_MIN; i < LONG_MIN + 3; ++i)
        ++count;
#pragma omp parallel for reduction(+ : count)
    for (int i = 0; i < 0; ++i)
        ++count;
    check(count == 113, "edges");
}

static void nested(void) {
    omp_set_max_active_levels(2);
    int count = 0;
#pragma omp parallel num_threads(2) reduction(+ : count)
    {
        for (int round = 0; round < ROUNDS; ++round) {
            int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
            for (int i = 0; i < 100; ++i)
                sum += i;
            count += sum;
        }
    }
    check(count == 2 * ROUNDS * 4950, "nested");
}

/* Half of the iterations is the second thread's, and their last one is none that it has begun. */
static void taken_over(void) {
    int is_done = 0;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < N; ++i) {
        while (i == N / 2 && !__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
            ;
        ++seen[i];
        if (i == N - 1)
            __atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
    }
    check(each_once(0, N, 1, 1), "taken over");
}

/* The first thread does not come beyond its first iteration before all others are done. */
static void rest_taken_over(void) {
    int done = 0;
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < N; ++i) {
        while (i == 0 && __atomic_load_n(&done, __ATOMIC_ACQUIRE) != N - 1)
            ;
        ++seen[i];
        __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    }
    check(each_once(0, N, 1, 1), "rest taken over");
}

int main(int argc, char **argv) {
    shapes(N);
    shapes(1001);
    edges();
    nested();
    if (argc > 1 && strcmp(argv[1], "lent") == 0) {
        taken_over();
        rest_taken_over();
    }
    return 0;
}
