// SPDX-License-Identifier: Apache-2.0
// usage FILE STATUS PROGRAM [ARGUMENTS...]: runs a program and writes to FILE what it took.
//
// One line: wall, user and system seconds, and the peak resident memory in KiB of the largest
// process. A child's peak begins with that of the process that started it, so programs are started
// from here and not from Python. Ends with 0 when the program ended with STATUS, else with what it
// ended with, 1 for a 0 that was not expected; a signal becomes 128 + its number.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (argc < 4) {
        fprintf(stderr, "usage: %s FILE STATUS PROGRAM [ARGUMENTS...]\n", argv[0]);
        return 2;
    }
    char **const program = argv + 3;
    const double start = seconds_now();
    const pid_t child = fork();
    if (child == 0) {
        execvp(program[0], program);
        fprintf(stderr, "%s: %s\n", program[0], strerror(errno));
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
    if (WIFSIGNALED(status))
        return EXIT_SIGNAL + WTERMSIG(status);
    if (WEXITSTATUS(status) == atoi(argv[2]))
        return 0;
    return WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
}
