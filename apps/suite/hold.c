/* SPDX-License-Identifier: Apache-2.0 */
#include "hold.h"

#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long g_late; /* ns */

struct timespec hold_begin(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now;
}

void hold_since(struct timespec begun, double seconds) {
    /* Of this thread: the kernel otherwise rounds sleeps up by 50 us. A thread-local flag would save
     * the call, but regions of a program with thread-local data are not split. */
    prctl(PR_SET_TIMERSLACK, 1);
    const long ns = begun.tv_nsec + (long)(seconds * 1e9);
    const struct timespec end = {begun.tv_sec + ns / 1000000000, ns % 1000000000};
    /* Not by libc's function, which would suspend the task: a kernel that computes does not. */
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0)
        ;
    const struct timespec now = hold_begin();
    atomic_fetch_add_explicit(&g_late,
                              (now.tv_sec - end.tv_sec) * 1000000000 + now.tv_nsec - end.tv_nsec,
                              memory_order_relaxed);
}

double late_seconds(void) {
    return (double)atomic_load_explicit(&g_late, memory_order_relaxed) * 1e-9;
}
