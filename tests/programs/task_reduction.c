/* SPDX-License-Identifier: Apache-2.0
 * test, split:
 * OpenMP 5.2, 5.5.9 and 5.5.10 (task_reduction, in_reduction): tasks of the taskgroup, at any
 * depth, take part; the result is there after the region, arrays and user-defined types included.
 */
#include "check.h"

struct pair {
    long count, sum;
};

static void combine(struct pair *out, const struct pair *in) {
    out->count += in->count;
    out->sum += in->sum;
}

#pragma omp declare reduction(pairs : struct pair : combine(&omp_out, &omp_in))                    \
    initializer(omp_priv = (struct pair){0, 0})

static long descend(int depth, long *total) {
    long sum = *total;
    if (depth == 0)
        return 0;
#pragma omp taskgroup task_reduction(+ : sum)
    {
        for (int child = 0; child < 2; ++child) {
#pragma omp task in_reduction(+ : sum)
            {
                long below = 0;
                sum += 1 + descend(depth - 1, &below);
            }
        }
    }
    return sum;
}

static void of_a_taskgroup(void) {
    long sum = 1000, product = 1;
    int histogram[32] = {0};
    double most = -1;
    struct pair pair = {1, 10};
#pragma omp taskgroup task_reduction(+ : sum, histogram) task_reduction(* : product)               \
    task_reduction(max : most) task_reduction(pairs : pair)
    {
        for (int i = 0; i < 320; ++i) {
#pragma omp task in_reduction(+ : sum, histogram) in_reduction(max : most)                         \
    in_reduction(pairs : pair) firstprivate(i)
            {
                sum += i;
                histogram[i % 32] += 1;
                most = i > most ? i : most;
                pair.count += 1;
                pair.sum += i;
#pragma omp task in_reduction(+ : sum) firstprivate(i)
                sum += i;
            }
            if (i % 32 == 0) {
#pragma omp task in_reduction(* : product)
                product *= 2;
            }
        }
    }
    CHECK_EQ(sum, 1000 + 2 * 51040);
    CHECK_EQ(product, 1024);
    CHECK(most == 319);
    CHECK_EQ(pair.count, 321);
    CHECK_EQ(pair.sum, 51050);
    for (int i = 0; i < 32; ++i)
        CHECK_EQ(histogram[i], 10);
}

/* The section's length is a variable: clang 19 gives a constant one the size of one element. It
 * keeps a variable one in a thread-local variable, which the combining thread reads and only the
 * tasks write: with no runtime may this thread have run none of them. So it runs one. */
static void of_a_section(int length) {
    enum { n = 3000 };
    static long field[n];
    for (int i = 0; i < n; ++i)
        field[i] = i;
#pragma omp taskgroup task_reduction(+ : field[100 : length])
    {
#pragma omp task if (0) in_reduction(+ : field[100 : length])
        for (int i = 100; i < 100 + length; ++i)
            field[i] += 0;
        for (int t = 0; t < 50; ++t) {
#pragma omp task in_reduction(+ : field[100 : length])
            for (int i = 100; i < 100 + length; ++i)
                field[i] += 1;
        }
    }
    for (int i = 0; i < n; ++i)
        CHECK_EQ(field[i], i + (i >= 100 && i < 2100 ? 50 : 0));
}

int main(void) {
    for (int round = 0; round < 10; ++round) {
#pragma omp parallel
#pragma omp single
        {
            long zero = 0;
            of_a_taskgroup();
            of_a_section(2000);
            CHECK_EQ(descend(7, &zero), 254);
        }
    }
    of_a_taskgroup();
    return 0;
}
