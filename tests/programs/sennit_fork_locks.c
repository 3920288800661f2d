/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -lpthread # sanitizers have a view of fork() of their own
 * test:
 * fork() while another thread sets the affinity format, and looks up threadprivate variables: the
 * child does the same. It has no other thread that would unlock what was locked at that moment.
 */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>

#ifdef __clang__ /* what compilers call that use no thread-local storage */
void *__kmpc_threadprivate(void *where, int thread, void *data, size_t size);
static int own;
static void look_up(void) {
    CHECK(__kmpc_threadprivate(NULL, 0, &own, sizeof own) != NULL);
}
#else
static void look_up(void) {}
#endif

static void set_format(void) {
    char format[512];
    omp_set_affinity_format("thread %n of %N");
    CHECK(omp_get_affinity_format(format, sizeof format) > 0);
}

static void (*const actions[])(void) = {set_format, look_up};
static int enough;

static void *act_meanwhile(void *action) {
    for (int seen = 0; !seen;) {
        for (int i = 0; i < 100; ++i)
            (*(void (*const *)(void))action)();
#pragma omp atomic read
        seen = enough;
    }
    return NULL;
}

int main(void) {
    for (int which = 0; which < 2; ++which) {
        enough = 0;
        actions[which]();
        pthread_t other;
        CHECK_EQ(pthread_create(&other, NULL, act_meanwhile, (void *)&actions[which]), 0);
        for (int round = 0; round < 100; ++round) {
            const pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                alarm(20);
                actions[which]();
                _exit(42);
            }
            int status = -1;
            CHECK_EQ(waitpid(pid, &status, 0), pid);
            CHECK(WIFEXITED(status)); /* else it was the alarm */
            CHECK_EQ(WEXITSTATUS(status), 42);
        }
#pragma omp atomic write
        enough = 1;
        CHECK_EQ(pthread_join(other, NULL), 0);
    }
    return 0;
}
