/* SPDX-License-Identifier: Apache-2.0
 * For timed waits: a point in time a hundredth of a second from now. */
#pragma once

#include <time.h>

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 10 * 1000 * 1000;
    if (time.tv_nsec >= 1000 * 1000 * 1000) {
        time.tv_nsec -= 1000 * 1000 * 1000;
        ++time.tv_sec;
    }
    return time;
}
