/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": tasks that read and write pipes, terminals and
 * other files, on any number of threads: what one waits for, another task of the thread does.
 * Results and errors are those of blocking calls, and a thread whose tasks all wait sleeps. */
#define _GNU_SOURCE
#include "libc_calls.h"
#include "sennit_door.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>

static int ends[2];

static void open_pipe(void) {
    CHECK_EQ(pipe(ends), 0);
}
static void close_pipe(void) {
    CHECK_EQ(close(ends[0]), 0);
    CHECK_EQ(close(ends[1]), 0);
}

static void read_one(void) {
    char byte = 0;
    CHECK_EQ(read(ends[0], &byte, 1), 1);
    CHECK_EQ(byte, 'x');
}
static void write_one(void) {
    CHECK_EQ(write(ends[1], "x", 1), 1);
}

static void read_and_write(void) {
    open_pipe();
    one_after_the_other(read_one, write_one);
    close_pipe();
}

/* More than a pipe holds: a blocking write returns when all is written. */
enum { large = 1 << 20 };
static char sent[large], received[large];

static void write_large(void) {
    CHECK_EQ(write(ends[1], sent, large), large);
}
static void read_large(void) {
    for (size_t sum = 0; sum < large;) {
        const ssize_t got = read(ends[0], received + sum, large - sum);
        CHECK(got > 0);
        sum += (size_t)got;
    }
    CHECK_EQ(memcmp(sent, received, large), 0);
    memset(received, 0, large);
}
static void write_vectors(void) {
    const struct iovec pieces[] = {
        {sent, 10}, {NULL, 0}, {sent + 10, large / 2}, {sent + 10 + large / 2, large / 2 - 10}};
    CHECK_EQ(writev(ends[1], pieces, 4), large);
}
static void read_vectors(void) {
    for (size_t sum = 0; sum < large;) {
        const size_t left = large - sum, part = left < 1000 ? left : 1000;
        const struct iovec pieces[] = {{received + sum, part},
                                       {received + sum + part, left - part}};
        const ssize_t got = readv(ends[0], pieces, 2);
        CHECK(got > 0);
        sum += (size_t)got;
    }
    CHECK_EQ(memcmp(sent, received, large), 0);
    memset(received, 0, large);
}

static void more_than_it_holds(void) {
    for (int i = 0; i < large; ++i)
        sent[i] = (char)(i * 7 + i / 251);
    open_pipe();
    one_after_the_other(write_large, read_large);
    one_after_the_other(read_large, write_large);
    one_after_the_other(write_vectors, read_vectors);
    close_pipe();
}

/* Many readers of one pipe: each gets one byte. */
static void many_readers(void) {
    enum { readers = 50 };
    int got = 0;
    open_pipe();
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < readers; ++i) {
#pragma omp task shared(got)
            {
                read_one();
#pragma omp atomic
                ++got;
            }
        }
        for (int i = 0; i < readers; ++i) {
#pragma omp task
            write_one();
        }
    }
    CHECK_EQ(got, readers);
    close_pipe();
}

/* Both directions of a pair of tasks. */
static int back[2];
static void ping(void) {
    for (int i = 0; i < 100; ++i) {
        int answer = 0;
        CHECK_EQ(write(ends[1], &i, sizeof i), sizeof i);
        CHECK_EQ(read(back[0], &answer, sizeof answer), sizeof answer);
        CHECK_EQ(answer, i + 1);
    }
}
static void pong(void) {
    for (int i = 0; i < 100; ++i) {
        int number = 0;
        CHECK_EQ(read(ends[0], &number, sizeof number), sizeof number);
        ++number;
        CHECK_EQ(write(back[1], &number, sizeof number), sizeof number);
    }
}
static void ping_pong(void) {
    open_pipe();
    CHECK_EQ(pipe(back), 0);
    one_after_the_other(ping, pong);
    close(back[0]);
    close(back[1]);
    close_pipe();
}

static void read_end(void) {
    char byte;
    CHECK_EQ(read(ends[0], &byte, 1), 0);
}
static void close_writer(void) {
    CHECK_EQ(close(ends[1]), 0);
}
static void write_until_broken(void) {
    ssize_t result;
    while ((result = write(ends[1], sent, large)) > 0) {
    }
    CHECK_EQ(result, -1);
    CHECK_EQ(errno, EPIPE);
}
static void close_reader(void) {
    CHECK_EQ(close(ends[0]), 0);
}
static void end_of_the_other(void) {
    open_pipe();
    one_after_the_other(read_end, close_writer);
    CHECK_EQ(close(ends[0]), 0);
    signal(SIGPIPE, SIG_IGN);
    open_pipe();
    one_after_the_other(write_until_broken, close_reader);
    CHECK_EQ(close(ends[1]), 0);
}

static void read_nothing(void) {
    char byte;
    for (int i = 0; i < 2; ++i) {
        errno = 0;
        CHECK_EQ(read(ends[0], &byte, 1), -1);
        CHECK_EQ(errno, EAGAIN);
    }
    errno = 0;
    CHECK_EQ(read(-1, &byte, 1), -1);
    CHECK_EQ(errno, EBADF);
}
static void nothing(void) {}
static void non_blocking(void) {
    CHECK_EQ(pipe2(ends, O_NONBLOCK), 0);
    one_after_the_other(read_nothing, nothing);
    close_pipe();
}

/* A holder of a critical section waits for what another task writes. */
static void read_in_critical(void) {
#pragma omp critical
    read_one();
}
static void write_and_enter(void) {
    write_one();
#pragma omp critical
    CHECK_EQ(fcntl(ends[0], F_GETFL) >= 0, 1);
}
static void in_critical(void) {
    open_pipe();
    one_after_the_other(read_in_critical, write_and_enter);
    close_pipe();
}

/* A terminal and an eventfd: no pipes, and of a terminal the kernel cannot say that it would block.
 */
static void read_line(void) {
    char line[8] = "";
    CHECK_EQ(read(ends[0], line, sizeof line), 3);
    CHECK_EQ(strncmp(line, "hi\n", 3), 0);
}
static void write_line(void) {
    CHECK_EQ(write(ends[1], "hi\n", 3), 3);
}
static void terminal(void) {
    ends[1] = posix_openpt(O_RDWR | O_NOCTTY);
    if (ends[1] < 0)
        return; /* there are none here */
    CHECK_EQ(grantpt(ends[1]), 0);
    CHECK_EQ(unlockpt(ends[1]), 0);
    ends[0] = open(ptsname(ends[1]), O_RDWR | O_NOCTTY);
    CHECK(ends[0] >= 0);
    one_after_the_other(read_line, write_line);
    close_pipe();
}
static void read_count(void) {
    uint64_t count = 0;
    CHECK_EQ(read(ends[0], &count, sizeof count), sizeof count);
    CHECK_EQ(count, 5);
}
static void write_count(void) {
    const uint64_t count = 5;
    CHECK_EQ(write(ends[0], &count, sizeof count), sizeof count);
}
static void event_file(void) {
    ends[0] = eventfd(0, 0);
    one_after_the_other(read_count, write_count);
    close(ends[0]);
}

/* On one thread, which sleeps while two tasks read: the handler ends their calls. */
static volatile int alarms;
static void on_alarm(int signal) {
    (void)signal;
    ++alarms;
}
static void read_interrupted(void) {
    char byte;
    CHECK_EQ(read(ends[0], &byte, 1), -1);
    CHECK_EQ(errno, EINTR);
}
static void interrupted(void) {
    open_pipe();
    under_alarms(on_alarm, read_interrupted);
    CHECK(alarms > 0);
    close_pipe();
}

/* All tasks wait for a thread that runs none: theirs sleep. */
static void *write_later(void *arg) {
    const struct timespec later = {0, 500 * 1000 * 1000};
    nanosleep(&later, NULL);
    for (int i = 0; i < *(int *)arg; ++i)
        write_one();
    return NULL;
}
static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
static void asleep(void) {
    int readers = 2 * omp_get_max_threads();
    pthread_t thread;
    open_pipe();
    CHECK_EQ(pthread_create(&thread, NULL, write_later, &readers), 0);
    const double begin = omp_get_wtime(), used = processor_seconds();
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < readers; ++i) {
#pragma omp task
        read_one();
    }
    CHECK(processor_seconds() - used < (omp_get_wtime() - begin) / 2);
    pthread_join(thread, NULL);
    close_pipe();
}

int main(void) {
    read_and_write();
    more_than_it_holds();
    many_readers();
    ping_pong();
    end_of_the_other();
    non_blocking();
    in_critical();
    terminal();
    event_file();
    if (omp_get_max_threads() == 1)
        interrupted();
    asleep();
    puts("ok");
    return 0;
}
