/* SPDX-License-Identifier: Apache-2.0
 * For programs that know how much they work: the calling thread's processor time, in nanoseconds.
 * They define _GNU_SOURCE first. */
#pragma once

#include <stdint.h>
#include <time.h>

/* A sanitizer makes the runtime's own part several times longer: so much more has to be worked for
 * that to be small beside it. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNDER_SANITIZER
#endif
#endif
#if defined(UNDER_SANITIZER) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { more_work = 5 };
#else
enum { more_work = 1 };
#endif

static uint64_t thread_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Returns how long that was. */
static uint64_t work_for(uint64_t ns) {
    const uint64_t start = thread_time();
    uint64_t now;
    while ((now = thread_time()) - start < ns)
        ;
    return now - start;
}
