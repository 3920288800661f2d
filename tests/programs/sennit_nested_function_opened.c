/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC
 * run: omp.{program}.{compiler}.{tasks} threads=2 tasks=100|20000 --
 *     {bin}/gcc/nested_function_part {tasks} # past the guarded stacks (tasks/fiber/stack.h)
 * A library whose code runs on the stack (GNU C's nested functions) is opened while tasks are
 * suspended, by one of them. Each of them may call it at once; so may later tasks, on stacks that
 * were used before and on new ones: sennit_nested_function_opened LIBRARY [TASKS]
 */
#include "sennit_door.h"
#include <gnu/libc-version.h>

static int (*nested_sum)(int);
static sennit_task **sleeper;

static void open_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library != NULL);
    *(void **)&nested_sum = dlsym(library, "nested_sum");
    CHECK(nested_sum != NULL);
}

/* `count` tasks are suspended at once; then the middle one goes on, then the others. */
static void suspend_and_call(int count, const char *path) {
    int asleep = 0, opened = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
#pragma omp task shared(asleep, opened)
            {
                sleeper[i] = door_self();
#pragma omp atomic
                asleep += 1;
                DOOR(sennit_task_suspend)(sleeper[i]);
                if (i == count / 2) {
                    if (path)
                        open_library(path);
                    if (nested_sum)
                        CHECK_EQ(nested_sum(i), i + 1);
#pragma omp atomic write
                    opened = 1;
                }
                if (nested_sum)
                    CHECK_EQ(nested_sum(-i), 1 - i);
            }
        }
        int seen;
        do {
#pragma omp taskyield
#pragma omp atomic read
            seen = asleep;
        } while (seen < count);
        DOOR(sennit_task_resume)(sleeper[count / 2]);
        do {
#pragma omp taskyield
#pragma omp atomic read
            seen = opened;
        } while (!seen);
        for (int i = 0; i < count; ++i)
            if (i != count / 2)
                DOOR(sennit_task_resume)(sleeper[i]);
    }
}

int main(int argc, char **argv) {
    CHECK(argc > 1);
    int major = 0, minor = 0;
    CHECK_EQ(sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor), 2);
    if (major * 100 + minor >= 241) { /* then dlopen() refuses such a library */
        puts("nothing to try: this libc opens no library with an executable stack");
        return 0;
    }
    const int count = argc > 2 ? atoi(argv[2]) : 100;
    sleeper = calloc((size_t)count + 100, sizeof *sleeper);
    CHECK(sleeper != NULL);
    suspend_and_call(count, NULL);
    suspend_and_call(count, argv[1]);
    suspend_and_call(count + 100, NULL);
    free(sleeper);
    return 0;
}
