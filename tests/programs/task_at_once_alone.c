/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang if="not sanitized" # libgomp defers; sanitizers' libraries wait in ways
 *     that suspend tasks
 * test: threads=1|2
 * With LLVM's runtime, a team of one thread runs each task where it is made, unless dependences or
 * something else holds it back. Programs rely on it: the creator looks at what its task has set,
 * without a scheduling point. Where nothing in the process suspends tasks, it is so here, too.
 */
#include "check.h"

static volatile int flag;

static void wait_for(int value) {
    while (flag != value) {
    }
    flag = 0;
}

static void one_level(void) {
    int x = 0;
#pragma omp task
    flag = 1;
    wait_for(1);
#pragma omp task untied priority(3)
    flag = 2;
    wait_for(2);
#pragma omp task depend(out : x) shared(x)
    x = 3;
#pragma omp task depend(in : x) shared(x)
    flag = x;
    wait_for(3);
#pragma omp taskloop nogroup num_tasks(3)
    for (int i = 0; i < 3; ++i)
        flag += 1;
    wait_for(3);
}

/* Tasks of tasks, tied and not. */
static void nested(int depth) {
    one_level();
    if (depth == 0)
        return;
#pragma omp task firstprivate(depth)
    {
        nested(depth - 1);
        flag = 7;
    }
    wait_for(7);
#pragma omp task untied firstprivate(depth)
    {
        one_level();
        flag = 8;
    }
    wait_for(8);
}

/* As deep as there are tasks: deeper than the stack is, if each lies on top of its parent. */
static int chain(int left) {
    volatile char room[4000];
    room[0] = 1;
    int below = 0;
    if (left > 0) {
#pragma omp task shared(below) firstprivate(left)
        below = chain(left - 1);
#pragma omp taskwait
    }
    return below + room[0];
}

int main(void) {
#pragma omp parallel num_threads(1)
    nested(3);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(1)
#pragma omp critical
    nested(2);
#pragma omp parallel num_threads(1)
    CHECK_EQ(chain(5000), 5001);
    return 0;
}
