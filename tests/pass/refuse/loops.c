/* SPDX-License-Identifier: Apache-2.0
 * Static loops whose threads could tell, or whose values are wanted behind them.
 * Compiled with -g: variables have names. */
#include <omp.h>

enum { N = 1000 };
double field[N], sums[64];
static _Thread_local int mine;
static int own;
#pragma omp threadprivate(own)
double stranger(int);

int lastprivate(int n) {
    int last = 0;
#pragma omp parallel for lastprivate(last) // missed: each thread runs its share of this static loop itself: a value of its last iteration is wanted behind it (lastprivate, linear)
    for (int i = 0; i < n; ++i)
        field[i] = last = i;
    return last;
}

void nowait(int n) {
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait // missed: each thread runs its share of this static loop itself: the threads do not wait for each other behind it: it is followed by a read (line +4)
        for (int i = 0; i < n; ++i)
            field[i] = i;
#pragma omp for schedule(static) // missed: each thread runs its share of this static loop itself: threads may come to it that have not waited for each other: before it is a call of __kmpc_for_static_fini (line -3)
        for (int i = 0; i < n; ++i)
            field[i] += 1;
    }
}

void numbers(int n) {
#pragma omp parallel for // missed: each thread runs its share of this static loop itself: a call of omp_get_thread_num (line +2) may depend on the thread
    for (int i = 0; i < n; ++i)
        field[i] = omp_get_thread_num();
}

void number_before(int n) {
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
#pragma omp for // missed: each thread runs its share of this static loop itself: threads may have different values of me
        for (int i = 0; i < n; ++i)
            sums[me] += i;
    }
}

/* Whose turn it was. */
void ticket(int n) {
    static int next;
#pragma omp parallel
    {
        int turn;
#pragma omp critical
        turn = next++;
#pragma omp for // missed: each thread runs its share of this static loop itself: threads may have different values of turn
        for (int i = 0; i < n; ++i)
            field[i] = turn;
    }
}

void partial_sums(int n) {
#pragma omp parallel
    {
        double sum = 0;
#pragma omp for // missed: each thread runs its share of this static loop itself: each thread has sum for itself, and the loop changes it
        for (int i = 0; i < n; ++i)
            sum += i;
        sums[omp_get_thread_num()] = sum;
    }
}

void sum_so_far(int n) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for // missed: each thread runs its share of this static loop itself: what a thread has added to sum so far is used
        for (int i = 0; i < n; ++i)
            sum += i;
        sums[omp_get_thread_num()] = sum;
    }
    field[0] = sum;
}

void own_memory(int n) {
#pragma omp parallel
    {
        double mine_too[N];
#pragma omp for // missed: each thread runs its share of this static loop itself: each thread has mine_too for itself, and the loop changes it
        for (int i = 0; i < n; ++i)
            mine_too[i] = i;
#pragma omp for // missed: each thread runs its share of this static loop itself: threads may have different values of mine_too
        for (int i = 0; i < n; ++i)
            field[i] = mine_too[i];
    }
}

void counter(int n) {
    int count = 0;
#pragma omp parallel for firstprivate(count) // missed: each thread runs its share of this static loop itself: each thread has count for itself, and the loop changes it
    for (int i = 0; i < n; ++i)
        field[i] = count++;
}

void restarted(int n) {
    int count;
#pragma omp parallel for private(count) // missed: each thread runs its share of this static loop itself: count may keep its value from one iteration to the next
    for (int i = 0; i < n; ++i) {
        if (i % 25 == 0)
            count = 0;
        field[i] = count++;
    }
}

void thread_local_data(int n) {
#pragma omp parallel for // missed: each thread runs its share of this static loop itself: each thread has mine for itself
    for (int i = 0; i < n; ++i)
        mine += i;
#pragma omp parallel for // missed: each thread runs its share of this static loop itself: each thread has own for itself
    for (int i = 0; i < n; ++i)
        own += i;
}

__attribute__((noinline)) static int asks(int i) {
    return i + omp_get_thread_num();
}

void strangers(int n) {
#pragma omp parallel for // missed: each thread runs its share of this static loop itself: a call of stranger (line +2) may depend on the thread
    for (int i = 0; i < n; ++i)
        field[i] = stranger(i);
#pragma omp parallel for // missed: each thread runs its share of this static loop itself: a call of asks (line +2) may depend on the thread
    for (int i = 0; i < n; ++i)
        field[i] = asks(i);
}

void given(int n, int me) {
#pragma omp for // missed: each thread runs its share of this static loop itself: threads may come to it that have not waited for each other: before it is the function's beginning
    for (int i = 0; i < n; ++i)
        field[i] = me;
}

void cancelled(int n) {
#pragma omp parallel
    {
#pragma omp for // missed: each thread runs its share of this static loop itself: there are several ways out of it
        for (int i = 0; i < n; ++i) {
            if (field[i] < 0) {
#pragma omp cancel for
            }
        }
    }
}
