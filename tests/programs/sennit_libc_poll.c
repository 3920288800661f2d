/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": tasks that wait for one of several files, which
 * another task of the thread writes to, or until a time is over. */
#define _GNU_SOURCE
#include "libc_calls.h"
#include "sennit_door.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

static int one[2], two[2];

static void write_to_two(void) {
    CHECK_EQ(write(two[1], "x", 1), 1);
}

/* Files are there, and another task is suspended beside `waits`; then `two` is written to. */
static void beside(void (*waits)(void)) {
    CHECK_EQ(pipe(one), 0);
    CHECK_EQ(pipe(two), 0);
    one_after_the_other(waits, write_to_two);
    for (int i = 0; i < 2; ++i) {
        close(one[i]);
        close(two[i]);
    }
}

static void by_poll(void) {
    struct pollfd files[] = {{one[0], POLLIN, 0}, {-1, POLLIN, 0}, {two[0], POLLIN, 0}};
    CHECK_EQ(poll(files, 3, -1), 1);
    CHECK_EQ(files[0].revents, 0);
    CHECK_EQ(files[2].revents, POLLIN);
}
static void by_poll_twice_the_same(void) {
    struct pollfd files[] = {{two[0], POLLPRI, 0}, {two[0], POLLIN, 0}};
    CHECK_EQ(poll(files, 2, 60000), 1);
    CHECK_EQ(files[1].revents, POLLIN);
}
static void by_ppoll(void) {
    struct pollfd files[] = {{one[0], POLLIN, 0}, {two[0], POLLIN, 0}};
    const struct timespec minute = {60, 0};
    CHECK_EQ(ppoll(files, 2, &minute, NULL), 1);
    CHECK_EQ(files[1].revents, POLLIN);
}
static void fill(fd_set *files) {
    FD_ZERO(files);
    FD_SET(one[0], files);
    FD_SET(two[0], files);
}
static int count(void) {
    return (one[0] > two[0] ? one[0] : two[0]) + 1;
}
static void by_select(void) {
    fd_set in, errors;
    fill(&in);
    fill(&errors);
    struct timeval minute = {60, 0};
    CHECK_EQ(select(count(), &in, NULL, &errors, &minute), 1);
    CHECK(!FD_ISSET(one[0], &in) && FD_ISSET(two[0], &in) && !FD_ISSET(two[0], &errors));
    CHECK(minute.tv_sec <= 60);
}
static void by_pselect(void) {
    fd_set in;
    fill(&in);
    CHECK_EQ(pselect(count(), &in, NULL, NULL, NULL, NULL), 1);
    CHECK(!FD_ISSET(one[0], &in) && FD_ISSET(two[0], &in));
}
static void by_epoll(void) {
    const int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = one[0]}};
    CHECK_EQ(epoll_ctl(set, EPOLL_CTL_ADD, one[0], &event), 0);
    event.data.fd = two[0];
    CHECK_EQ(epoll_ctl(set, EPOLL_CTL_ADD, two[0], &event), 0);
    CHECK_EQ(epoll_wait(set, &event, 1, -1), 1);
    CHECK_EQ(event.data.fd, two[0]);
    CHECK_EQ(epoll_pwait(set, &event, 1, 60000, NULL), 1);
    CHECK_EQ(close(set), 0);
}

static void late(void) {
    struct pollfd file = {one[0], POLLIN, 7};
    double begin = omp_get_wtime();
    CHECK_EQ(poll(&file, 1, 10), 0);
    CHECK_EQ(file.revents, 0);
    CHECK(omp_get_wtime() - begin >= 0.01);
    begin = omp_get_wtime();
    CHECK_EQ(poll(NULL, 0, 5), 0);
    CHECK(omp_get_wtime() - begin >= 0.005);

    fd_set in;
    FD_ZERO(&in);
    FD_SET(one[0], &in);
    struct timeval soon = {0, 5000};
    CHECK_EQ(select(one[0] + 1, &in, NULL, NULL, &soon), 0);
    CHECK(!FD_ISSET(one[0], &in));
    CHECK(soon.tv_sec == 0 && soon.tv_usec == 0);

    const int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = one[0]}};
    CHECK_EQ(epoll_wait(set, &event, 1, 5), 0);
    CHECK_EQ(close(set), 0);

    file.fd = 1000000; /* not open */
    CHECK_EQ(poll(&file, 1, -1), 1);
    CHECK_EQ(file.revents, POLLNVAL);
}

/* Written to only in turns: each poll must have let the other task run. */
static void in_turns(void) {
    enum { turns = 100 };
    CHECK_EQ(pipe(one), 0);
    CHECK_EQ(pipe(two), 0);
#pragma omp parallel
#pragma omp single
    for (int side = 0; side < 2; ++side) {
#pragma omp task
        for (int i = 0; i < turns; ++i) {
            char byte = (char)i;
            struct pollfd file = {side ? two[0] : one[0], POLLIN, 0};
            if (side == 0) {
                CHECK_EQ(write(two[1], &byte, 1), 1);
            }
            CHECK_EQ(poll(&file, 1, -1), 1);
            CHECK_EQ(read(file.fd, &byte, 1), 1);
            CHECK_EQ(byte, i);
            if (side == 1) {
                CHECK_EQ(write(one[1], &byte, 1), 1);
            }
        }
    }
    for (int i = 0; i < 2; ++i) {
        close(one[i]);
        close(two[i]);
    }
}

int main(void) {
    beside(by_poll);
    beside(by_poll_twice_the_same);
    beside(by_ppoll);
    beside(by_select);
    beside(by_pselect);
    beside(by_epoll);
    beside(late);
    in_turns();
    puts("ok");
    return 0;
}
