/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * run: omp.{program}.off.{compiler} threads=1 SENNIT_LIBC=off -- off
 * docs/user/openmp.md, "Blocking calls of libc": a task that sleeps lets the others of its thread
 * run. Each task sleeps in a loop until a later one has run, which on one thread would be for ever
 * if sleeps blocked it. With SENNIT_LIBC=off they do. */
#define _GNU_SOURCE
#include "sennit_door.h"
#include <errno.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { ms = 1000 * 1000 };

static const struct timespec moment = {0, ms};

static void by_usleep(void) {
    CHECK_EQ(usleep(1000), 0);
}
static void by_nanosleep(void) {
    struct timespec left = {7, 7};
    CHECK_EQ(nanosleep(&moment, &left), 0);
    CHECK_EQ(left.tv_sec, 7); /* nothing has interrupted it */
}
static void by_clock(void) {
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL), 0);
}
static void until(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += ms;
    if (time.tv_nsec >= 1000 * ms) {
        time.tv_nsec -= 1000 * ms;
        ++time.tv_sec;
    }
    CHECK_EQ(clock_nanosleep(clock, TIMER_ABSTIME, &time, NULL), 0);
    struct timespec now;
    clock_gettime(clock, &now);
    CHECK(now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec));
}
static void until_monotonic(void) {
    until(CLOCK_MONOTONIC);
}
static void until_realtime(void) {
    until(CLOCK_REALTIME);
}
static void by_thrd_sleep(void) {
    CHECK_EQ(thrd_sleep(&moment, NULL), 0);
}
static void by_sleep(void) {
    CHECK_EQ(sleep(1), 0);
}

static void (*const sleeps[])(void) = {by_usleep,      by_nanosleep,  by_clock, until_monotonic,
                                       until_realtime, by_thrd_sleep, by_sleep};

/* static: of others gcc may give a task a copy */
static volatile int begun, done;

static void until_a_later_task_has_run(void (*sleep_once)(void)) {
    begun = done = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
            begun = 1;
            do
                sleep_once();
            while (!done);
        }
        while (!begun) {
#pragma omp taskyield
        }
#pragma omp task
        done = 1;
    }
}

/* 20 sleeps at once on one thread: none is shorter than it was asked for. */
static void many(void) {
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < 20; ++i) {
#pragma omp task
        {
            const double begin = omp_get_wtime();
            usleep(5000);
            CHECK(omp_get_wtime() - begin >= 0.005);
        }
    }
}

static void wrong_times(void) {
    const struct timespec wrong = {0, -1};
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        usleep(1000);
#pragma omp task
        {
            errno = 0;
            CHECK_EQ(nanosleep(&wrong, NULL), -1);
            CHECK_EQ(errno, EINVAL);
            CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL), EINVAL);
        }
    }
}

/* A polling service is not suspended, and polls again only when it has returned. */
static int in_service, polls;
static int service_that_sleeps(void *arg) {
    (void)arg;
    CHECK(!in_service);
    in_service = 1;
    usleep(100);
    in_service = 0;
    ++polls;
    return 0;
}
static void in_polling_service(void) {
    sennit_poll_service *service = NULL;
    CHECK_EQ(DOOR(sennit_poll_register)("sleeps", service_that_sleeps, NULL, &service),
             SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_pending)(service, 1), SENNIT_SUCCESS);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; ++i) {
#pragma omp task
        usleep(1000);
    }
    CHECK_EQ(DOOR(sennit_poll_pending)(service, -1), SENNIT_SUCCESS);
    CHECK_EQ(DOOR(sennit_poll_unregister)(service), SENNIT_SUCCESS);
    CHECK(polls > 0);
}

/* On one thread. */
static void switched_off(void) {
    done = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
    {
#pragma omp task
        {
            const int before = done;
            usleep(2000);
            CHECK_EQ(done, before);
            ++done;
        }
#pragma omp task
        {
            const int before = done;
            usleep(2000);
            CHECK_EQ(done, before);
            ++done;
        }
    }
    CHECK_EQ(done, 2);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "off") == 0) {
        switched_off();
        puts("ok");
        return 0;
    }
    for (unsigned i = 0; i < sizeof sleeps / sizeof *sleeps; ++i)
        until_a_later_task_has_run(sleeps[i]);
    many();
    wrong_times();
    in_polling_service();
    puts("ok");
    return 0;
}
