/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that computes in a pool, and has bad days.
 *
 * pool_works MS         regions, one after the other, for that many milliseconds
 * pool_works slow MS    as the first one; each region takes 20 ms
 * pool_works sum MS     as the first one; each region adds numbers up, in tasks and in a loop
 * pool_works loop MS    one region, a loop of so many iterations of a millisecond, each a chunk
 * pool_works spin MS    one region without a scheduling point for so long
 * pool_works sleep MS   one region, all threads of which sleep for so long; then as the first one
 * pool_works fork MS    as the first one, and forks in the middle of it: a child that computes in a
 *                       region of its own, and one that runs another program
 * pool_works exec MS    as the first one; then it becomes a new program, that does the same again
 *
 * MS 0: until SIGTERM comes.
 *
 * It says "begins" and at the end how many regions it has run. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

static void compute(double ms) {
    for (const double end = now_ms() + ms; now_ms() < end;)
        ;
}

static volatile sig_atomic_t is_told;
static void be_told(int number) {
    is_told = number;
}

static int goes_on(double begin, double ms) {
    return ms > 0 ? now_ms() < begin + ms : !is_told;
}

static void sleep_ms(double ms) {
    usleep((useconds_t)(ms * 1000));
}

static int regions_of(double each, double ms) {
    int count = 0;
    for (const double begin = now_ms(); goes_on(begin, ms); ++count) {
#pragma omp parallel
        compute(each);
    }
    return count;
}

static int regions(double ms) {
    return regions_of(0.2, ms);
}

/* 0: one was wrong. */
static int sums(double ms) {
    enum { MANY = 2000 };
    int count = 0;
    for (const double begin = now_ms(); goes_on(begin, ms); ++count) {
        long loop = 0, tasks = 0;
#pragma omp parallel
        {
#pragma omp for schedule(dynamic, 50) reduction(+ : loop)
            for (int i = 0; i < MANY; ++i)
                loop += i;
#pragma omp single
            for (int i = 0; i < 50; ++i)
#pragma omp task firstprivate(i)
            {
                compute(0.02);
#pragma omp atomic
                tasks += i;
            }
        }
        if (loop != MANY * (MANY - 1L) / 2 || tasks != 50 * 49 / 2)
            return 0;
    }
    return count;
}

static int child(void (*body)(void)) {
    const pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(7);
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                           : -1;
}

static void child_computes(void) {
    _exit(regions(20) > 0 ? 0 : 1);
}
static void child_execs(void) {
    execlp("true", "true", (char *)NULL);
}

int main(int count, char **arguments) {
    const char *const what = count > 2 ? arguments[1] : "";
    const char *const ms = arguments[count - 1];
    signal(SIGTERM, be_told);
    printf("begins\n");
    fflush(stdout);
    int done = 0;
    if (strcmp(what, "spin") == 0) {
#pragma omp parallel
        compute(atof(ms));
        done = 1;
    } else if (strcmp(what, "loop") == 0) {
        const int iterations = atoi(ms);
#pragma omp parallel for schedule(dynamic, 1)
        for (int i = 0; i < iterations; ++i)
            compute(1);
        done = 1;
    } else if (strcmp(what, "sleep") == 0) {
#pragma omp parallel
        sleep_ms(atof(ms));
        done = regions(100);
    } else if (strcmp(what, "slow") == 0) {
        done = regions_of(20, atof(ms));
    } else if (strcmp(what, "sum") == 0) {
        done = sums(atof(ms));
    } else {
        done = regions(atof(ms));
    }
    if (strcmp(what, "fork") == 0) {
        if (child(child_computes) != 0 || child(child_execs) != 0)
            return 1;
        done += regions(atof(ms));
    }
    if (strcmp(what, "exec") == 0) {
        execl("/proc/self/exe", arguments[0], ms, (char *)NULL);
        return 1;
    }
    printf("%d regions\n", done);
    return done < 1;
}
