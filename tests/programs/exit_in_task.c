/* SPDX-License-Identifier: Apache-2.0
 * build:
 * ISO C 7.22.4.4 (exit) inside of a task: atexit handlers run, buffers are written, the exit code
 * is the program's, whatever the other threads do. Expected: "bye" on stdout and code 7.
 */
#include "check.h"

static void say_bye(void) {
    puts("bye");
}

int main(void) {
    CHECK_EQ(atexit(say_bye), 0);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task
        {
            static int once;
            int before;
#pragma omp atomic capture
            before = once++;
            if (before == 0)
                exit(7);
            usleep(100);
        }
    }
    return 0;
}
