/* SPDX-License-Identifier: Apache-2.0
 * build: if=clang
 * tool: threads=2
 *     TOOL_CHECKER_COUNTS=thread_begin=2,initial_begin=1,parallel_begin=1,implicit_begin=2,task_create=5,task_end=5,dependences=4,work_begin=4,dispatch=6,sync_begin=9,acquire=14,acquired=12,nest_begin=2,lock_init=2,lock_destroy=2,control=8,cancel=0
 * What a tool sees of two threads: tool_checker.c counts the events and looks at the frames where
 * omp_control_tool asks for it.
 */
#include "tool_look.h"

static void tasks(void) {
    int x = 0, done = 0;
#pragma omp single
    {
#pragma omp taskgroup
        for (int i = 0; i < 4; ++i) {
#pragma omp task depend(inout : x) shared(x)
            {
                /* this task, an implicit one and the initial one */
                CHECK_EQ(look(), 3);
                ++x;
            }
        }
        CHECK_EQ(x, 4);
#pragma omp task if (0) shared(done)
        {
            CHECK_EQ(look(), 3);
            done = 1;
        }
        CHECK_EQ(done, 1);
    }
}

static int sum = 0;

static void worksharing(void) {
#pragma omp for schedule(dynamic, 1) ordered
    for (int i = 0; i < 6; ++i) {
#pragma omp ordered
        sum += i;
    }
#pragma omp critical
    sum += 1;
}

int main(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest_lock;
    CHECK_EQ(look(), 1);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
#pragma omp parallel num_threads(2)
    {
        CHECK_EQ(look(), 2);
        tasks();
        worksharing();
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest_lock);
        CHECK_EQ(omp_test_nest_lock(&nest_lock), 2);
        omp_unset_nest_lock(&nest_lock);
        omp_unset_nest_lock(&nest_lock);
#pragma omp taskwait
    }
    CHECK_EQ(sum, 17);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest_lock);
    return 0;
}
