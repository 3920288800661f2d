/* SPDX-License-Identifier: Apache-2.0
 *
 * For code_test.cpp: a program with tasks and with sends. With TASKS_SEND the tasks send, in a
 * function that they call; without it somebody else does. */
int MPI_Send(int x);
void GOMP_task(void (*body)(void *), void *data);
void sample_makes_tasks(int count);
void (*sample_other(int x))(void *);

static volatile int g_value;

__attribute__((noinline)) static void exchange(int x) {
    g_value = MPI_Send(x) + 1;
}
static void sends(void *data) {
    exchange(*(int *)data);
    g_value += 1;
}
static void computes(void *data) {
    g_value = *(int *)data;
}

/* A loop, so that compilers load the function's address once, before it. */
void sample_makes_tasks(int count) {
    for (int i = 0; i < count; ++i) {
#ifdef TASKS_SEND
        GOMP_task(sends, &i);
#else
        GOMP_task(computes, &i);
#endif
    }
}
/* Names a function that sends, but makes no task. */
void (*sample_other(int x))(void *) {
    g_value = x;
    return x ? sends : computes;
}
