/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -lpthread
 * test: # stock libgomp hangs
 * POSIX fork beside OpenMP: a child of the initial thread, of a thread that the user made while
 * others compute, and of a task computes in regions of its own and leaves by exit; so does its
 * child. The parent goes on.
 */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>

static omp_lock_t lock;

static int compute(int threads) {
    int sum = 0, chain = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; ++i)
            sum += i;
#pragma omp single
        for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            {
#pragma omp taskyield
                chain += 1;
            }
        }
#pragma omp critical(fork)
        sum += 0;
        omp_set_lock(&lock);
        sum += 0;
        omp_unset_lock(&lock);
    }
    return sum + chain;
}

static void fork_and_compute(int generations) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        omp_init_lock(&lock); /* another thread of the parent may have held it */
        for (int threads = 1; threads <= 4; ++threads)
            CHECK_EQ(compute(threads), 4970);
        if (generations > 1)
            fork_and_compute(generations - 1);
        exit(42);
    }
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 42);
}

static int enough;

static void *compute_meanwhile(void *unused) {
    (void)unused;
    for (int seen = 0; !seen;) {
        CHECK_EQ(compute(2), 4970);
#pragma omp atomic read
        seen = enough;
    }
    return NULL;
}

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(3);
    omp_init_lock(&lock);
    fork_and_compute(2); /* before the first region */
    CHECK_EQ(compute(check_threads()), 4970);
    fork_and_compute(3);
    CHECK_EQ(compute(check_threads()), 4970);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        fork_and_compute(1);
    }
    pthread_t other;
    CHECK_EQ(pthread_create(&other, NULL, compute_meanwhile, NULL), 0);
    for (int round = 0; round < 10; ++round)
        fork_and_compute(1);
#pragma omp atomic write
    enough = 1;
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_EQ(compute(check_threads()), 4970);
    return 0;
}
