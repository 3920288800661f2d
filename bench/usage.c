// SPDX-License-Identifier: Apache-2.0
// usage FILE PROGRAM [ARGUMENTS...]: runs a program and writes to FILE what it took.
//
// One line: wall, user and system seconds, and the peak resident memory in KiB of the largest
// process. A child's peak begins with that of the process that started it, so programs are started
// from here and not from Python. Ends as the program did; a signal becomes 128 + its number.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NOT_STARTED = 127, EXIT_SIGNAL = 128 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s FILE PROGRAM [ARGUMENTS...]\n", argv[0]);
        return 2;
    }
    const double start = seconds_now();
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        fprintf(stderr, "%s: %s\n", argv[2], strerror(errno));
        _exit(EXIT_NOT_STARTED);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror(argv[0]);
        return EXIT_NOT_STARTED;
    }
    const double wall = seconds_now() - start;
    FILE *file = fopen(argv[1], "w");
    if (!file ||
        fprintf(file, "%.6f %.6f %.6f %ld\n", wall, seconds_of(usage.ru_utime),
                seconds_of(usage.ru_stime), usage.ru_maxrss) < 0 ||
        fclose(file) != 0) {
        perror(argv[1]);
        return EXIT_NOT_STARTED;
    }
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
