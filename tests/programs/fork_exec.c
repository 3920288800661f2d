/* SPDX-License-Identifier: Apache-2.0
 * test:
 * POSIX fork and exec inside of a task: the child becomes another program, system() works, and the
 * parent's team goes on. A child that only forked may still leave by _exit.
 */
#include "check.h"
#include <sys/wait.h>

static int status_of(pid_t pid) {
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(void) {
    int done = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 12; ++i) {
#pragma omp task shared(done)
        {
            const pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                if (i % 2)
                    _exit(i);
                char *arguments[] = {(char *)"sh", (char *)"-c", (char *)"exit 42", NULL};
                execv("/bin/sh", arguments);
                _exit(127);
            }
            CHECK_EQ(status_of(pid), i % 2 ? i : 42);
#pragma omp atomic
            done += 1;
        }
    }
    CHECK_EQ(done, 12);
    CHECK_EQ(system("true"), 0);
#pragma omp parallel reduction(+ : done)
    done += 1;
    CHECK_EQ(done, 12 + check_threads());
    return 0;
}
