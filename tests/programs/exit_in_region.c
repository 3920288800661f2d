/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: # stock libgomp hangs, stock libomp crashes
 * A process may end at any point: exit by a thread of a region, by one in nested regions, beside
 * waiting and suspended tasks, in a signal handler, while others are in barriers, locks and tasks.
 */
#include "check.h"
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static omp_lock_t held;

static void leave(int signal) {
    (void)signal;
    exit(5);
}

static void by_last_thread(void) {
#pragma omp parallel
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            exit(5);
#pragma omp barrier
    }
}

static void in_nested_task(void) {
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
#pragma omp parallel num_threads(2)
#pragma omp single
            {
#pragma omp task
                exit(5);
#pragma omp taskwait
            }
        }
#pragma omp taskwait
    }
}

static void beside_waiting_tasks(void) {
    omp_set_lock(&held);
#pragma omp parallel
#pragma omp single
    {
        int x = 0;
        (void)x; /* only an address */
        for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : x)
            {
                omp_set_lock(&held); /* never */
            }
        }
#pragma omp task
        exit(5);
    }
}

static void in_signal_handler(void) {
    signal(SIGALRM, leave);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 50000}}, NULL);
#pragma omp parallel
    for (volatile int forever = 1; forever;) {
#pragma omp single
        {
#pragma omp task
            {
#pragma omp taskyield
            }
        }
    }
}

int main(void) {
    omp_set_max_active_levels(3);
    omp_init_lock(&held);
    void (*const ways[])(void) = {by_last_thread, in_nested_task, beside_waiting_tasks,
                                  in_signal_handler};
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i) {
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            ways[i]();
            _exit(1);
        }
        int status = -1;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 5);
    }
    return 0;
}
