/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" # as sennit_fork_locks.c
 * test:
 * fork() leaves the thread that runs spawned tasks in the parent: the child has one of its own, and
 * so has the child's child. The parent goes on.
 */
#include "sennit_door.h"
#include <sys/wait.h>

enum { spawned = 20 };
static int completions;

static void body(void *argument) {
    (void)argument;
    DOOR(sennit_task_wait_ns)(100000, NULL);
}

static void done(void *argument) {
    (void)argument;
    __atomic_add_fetch(&completions, 1, __ATOMIC_ACQ_REL);
}

static void spawn_and_wait(void) {
    completions = 0;
    for (int i = 0; i < spawned; ++i)
        CHECK_EQ(DOOR(sennit_task_spawn)(body, NULL, done, NULL, "test"), SENNIT_SUCCESS);
    while (__atomic_load_n(&completions, __ATOMIC_ACQUIRE) < spawned)
        DOOR(sennit_task_wait_ns)(100000, NULL);
}

static void fork_and_spawn(int generations) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        spawn_and_wait();
        if (generations > 1)
            fork_and_spawn(generations - 1);
        exit(42);
    }
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 42);
}

int main(void) {
#pragma omp parallel
#pragma omp single
    spawn_and_wait();
    fork_and_spawn(2);
    spawn_and_wait();
    return 0;
}
