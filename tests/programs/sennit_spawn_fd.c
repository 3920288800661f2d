/* SPDX-License-Identifier: Apache-2.0
 * test:
 * sennit.h: a thread that sits in poll() hears of tasks that are complete, once all of their events
 * are fulfilled. One descriptor may serve several tasks. */
#include "sennit_door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { spawned = 50, patience_ms = 60000 };

static sennit_task *bound;

/* The event is not fulfilled when the body has ended. */
static void bind_event(void *argument) {
    CHECK_EQ(DOOR(sennit_task_events_increase)(door_self(), 1), SENNIT_SUCCESS);
    __atomic_store_n((sennit_task **)argument, door_self(), __ATOMIC_RELEASE);
}

static void count(void *argument) {
    CHECK_EQ(DOOR(sennit_task_wait_ns)(100000, NULL), SENNIT_SUCCESS);
    __atomic_add_fetch((int *)argument, 1, __ATOMIC_RELAXED);
}

static int is_readable(int fd, int milliseconds) {
    struct pollfd file = {.fd = fd, .events = POLLIN};
    return poll(&file, 1, milliseconds);
}

static void an_event_comes_late(void) {
    int fd = -1;
    uint64_t told = 0;
    bound = NULL;
    CHECK_EQ(DOOR(sennit_task_spawn_fd)(&fd, bind_event, &bound, "late"), SENNIT_SUCCESS);
    CHECK(fd >= 0);
    while (!__atomic_load_n(&bound, __ATOMIC_ACQUIRE))
        CHECK_EQ(is_readable(fd, 1), 0);
    CHECK_EQ(is_readable(fd, 5), 0);
    CHECK_EQ(DOOR(sennit_task_events_decrease)(bound, 1), SENNIT_SUCCESS);
    CHECK_EQ(is_readable(fd, patience_ms), 1);
    CHECK_EQ(read(fd, &told, sizeof told), (long)sizeof told);
    CHECK_EQ(told, 1);
    close(fd);
}

static void many_tell_one(void) {
    int fd = eventfd(0, EFD_CLOEXEC), ran = 0;
    for (int i = 0; i < spawned; ++i)
        CHECK_EQ(DOOR(sennit_task_spawn_fd)(&fd, count, &ran, NULL), SENNIT_SUCCESS);
    for (uint64_t all = 0, told = 0; all < spawned; all += told) {
        CHECK_EQ(is_readable(fd, patience_ms), 1);
        CHECK_EQ(read(fd, &told, sizeof told), (long)sizeof told);
    }
    CHECK_EQ(__atomic_load_n(&ran, __ATOMIC_RELAXED), spawned);
    CHECK_EQ(is_readable(fd, 0), 0);
    close(fd);
}

int main(void) {
    int none = 1 << 20, fd = -1;
    CHECK_EQ(DOOR(sennit_task_spawn_fd)(NULL, count, NULL, NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(DOOR(sennit_task_spawn_fd)(&fd, NULL, NULL, NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(DOOR(sennit_task_spawn_fd)(&none, count, NULL, NULL), SENNIT_ERR_PARAMETER);
    CHECK_EQ(fd, -1);
    an_event_comes_late();
    many_tell_one();
#pragma omp parallel
#pragma omp single
    many_tell_one();
    an_event_comes_late();
    return 0;
}
