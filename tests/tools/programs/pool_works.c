/* SPDX-License-Identifier: Apache-2.0
 * build:
 *
 * A program that computes in a pool, and has bad days.
 *
 * pool_works MS         regions, one after the other, for that many milliseconds
 * pool_works slow MS    as the first one; each region takes 20 ms
 * pool_works sum MS     as the first one; each region adds numbers up, in tasks and in a loop
 * pool_works loop MS    one region, a loop whose iterations take a millisecond, for so long
 * pool_works spin MS    one region without a scheduling point for so long
 * pool_works sleep MS   one region, all threads of which sleep for so long; then a few more regions
 * pool_works fork MS    as the first one, and forks in the middle of it: a child that computes in a
 *                       region of its own, and one that runs another program
 * pool_works child MS   as the first one, and forks a child that says its number and waits for
 * SIGTERM
 * pool_works exec MS    as the first one; then it becomes a new program, that computes for 0 ms
 *
 * pool_works team MS     as the first one; each region checks its threads, and at its end the
 * program says how many of a region's threads one kernel thread has run at the most
 * pool_works split MS     as the first one; each region checks that each of its threads is called
 * once, and at its end the program says how many kernel threads have run them
 * pool_works agents MS   as the first one; a region has one thread, and tasks that free agents may
 * run
 *
 * MS 0: until SIGTERM comes.
 *
 * It says "begins" and at the end how many regions it has run. */
#define _GNU_SOURCE
#include <sennit.h>

#include <dlfcn.h>
#include <omp.h>
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

static void compute_on(double ms) {
    for (const double begin = now_ms(); goes_on(begin, ms);)
        ;
}

/* A signal wakes one thread. The others see at the end of a nap that it has come. */
static void sleep_on(double ms) {
    for (const double begin = now_ms(); goes_on(begin, ms);)
        usleep(20000);
}

/* Each of the iterations is there when the loop begins: those that come too late do nothing. */
static void loop(double ms) {
    enum { MANY = 1000000 };
    const double begin = now_ms();
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < MANY; ++i)
        if (goes_on(begin, ms))
            compute(1);
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

/* 0: a region was not as it should be. Its threads are as many each time, and all are there. */
static int teams(double ms, int *most) {
    enum { MANY = 256 };
    static pid_t ran_on[MANY];
    int count = 0, always = 0;
    for (const double begin = now_ms(); goes_on(begin, ms); ++count) {
        int size = 0, met = 0;
#pragma omp parallel
        {
            const int self = omp_get_thread_num();
            compute(0.5);
#pragma omp single nowait
            size = omp_get_num_threads();
            if (self < MANY)
                ran_on[self] = gettid();
#pragma omp atomic
            ++met;
        }
        if (met != size || size > MANY || (count > 0 && size != always))
            return 0;
        always = size;
        for (int i = 0; i < size; ++i) {
            int same = 0;
            for (int j = 0; j < size; ++j)
                same += ran_on[j] == ran_on[i];
            *most = same > *most ? same : *most;
        }
    }
    return count;
}

static int note_thread(pid_t *seen, int most, pid_t self) {
    for (int i = 0; i < most; ++i) {
        pid_t nobody = 0;
        if (__atomic_load_n(&seen[i], __ATOMIC_RELAXED) == self)
            return 1;
        if (__atomic_compare_exchange_n(&seen[i], &nobody, self, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return 1;
        if (nobody == self)
            return 1;
    }
    return 0;
}

/* 0: a region was not as it should be. By turns its threads only compute, wait for each other, or
 * leave tasks behind. */
static int split_regions(double ms, int *threads) {
    enum { MANY = 256 };
    static pid_t seen[MANY];
    static int calls[MANY];
    int count = 0;
    for (const double begin = now_ms(); goes_on(begin, ms); ++count) {
        int size = 0, tasks = 0;
#pragma omp parallel
        {
            const int self = omp_get_thread_num();
#pragma omp single nowait
            size = omp_get_num_threads();
            note_thread(seen, MANY, gettid());
#pragma omp atomic
            ++calls[self];
            compute(0.5);
            if (count % 3 == 1) {
#pragma omp barrier
                compute(0.1);
            } else if (count % 3 == 2) {
                for (int i = 0; i < 3; ++i)
#pragma omp task shared(tasks)
                {
                    compute(0.05);
#pragma omp atomic
                    ++tasks;
                }
            }
        }
        for (int i = 0; i < MANY; ++i)
            if (calls[i] != (i < size ? count + 1 : 0))
                return 0;
        if (tasks != (count % 3 == 2 ? 3 * size : 0))
            return 0;
    }
    while (*threads < MANY && seen[*threads] != 0)
        ++*threads;
    return count;
}

/* 0: nobody but the region's thread has run a task. */
static int grows(double ms) {
    __typeof__(sennit_task_threadset) *set_threadset;
    *(void **)&set_threadset = dlsym(RTLD_DEFAULT, "sennit_task_threadset");
    int tasks = 0, elsewhere = 0;
    for (const double begin = now_ms(); goes_on(begin, ms);) {
#pragma omp parallel num_threads(1)
        {
            const pid_t self = gettid();
            set_threadset(SENNIT_THREADSET_POOL);
            for (int i = 0; i < 4; ++i) {
#pragma omp task shared(tasks, elsewhere)
                {
                    compute(2);
#pragma omp atomic
                    elsewhere += gettid() != self;
#pragma omp atomic
                    ++tasks;
                }
            }
#pragma omp taskwait
            set_threadset(SENNIT_THREADSET_TEAM);
        }
    }
    return elsewhere > 0 ? tasks : 0;
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
static void child_waits(void) {
    printf("%d\n", getpid());
    fflush(stdout);
    while (!is_told)
        usleep(1000);
    _exit(0);
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
        compute_on(atof(ms));
        done = 1;
    } else if (strcmp(what, "loop") == 0) {
        loop(atof(ms));
        done = 1;
    } else if (strcmp(what, "sleep") == 0) {
#pragma omp parallel
        sleep_on(atof(ms));
        done = regions(100);
    } else if (strcmp(what, "slow") == 0) {
        done = regions_of(20, atof(ms));
    } else if (strcmp(what, "sum") == 0) {
        done = sums(atof(ms));
    } else if (strcmp(what, "agents") == 0) {
        done = grows(atof(ms));
    } else if (strcmp(what, "split") == 0) {
        int threads = 0;
        done = split_regions(atof(ms), &threads);
        printf("%d kernel threads\n", threads);
    } else if (strcmp(what, "team") == 0) {
        int most = 0;
        done = teams(atof(ms), &most);
        printf("%d on one\n", most);
    } else {
        done = regions(atof(ms));
    }
    if (strcmp(what, "fork") == 0) {
        if (child(child_computes) != 0 || child(child_execs) != 0)
            return 1;
        done += regions(atof(ms));
    }
    if (strcmp(what, "child") == 0 && child(child_waits) != 0)
        return 1;
    if (strcmp(what, "exec") == 0) {
        execl("/proc/self/exe", arguments[0], "0", (char *)NULL);
        return 1;
    }
    printf("%d regions\n", done);
    return done < 1;
}
