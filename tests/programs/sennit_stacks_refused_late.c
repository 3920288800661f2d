/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -ldl
 * test:
 * Stacks are refused all of a sudden, while a task holds locks that it took when nothing told so.
 * It must not be under a task that wants them: not when the first stack is refused, nor after it
 * has taken another lock and given back an old one. Once because the process's addresses are
 * limited, once because mmap fails. Both are played here, and for stacks alone: a limit that is
 * really set while other threads map stacks leaves anything, or nothing, for the rest.
 */
#define _GNU_SOURCE
#include "limited_memory.h"
#include "sennit_door.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { others = 50, most_rounds = 100, none_refused = 2 };

static omp_lock_t early, late;
static int inside, done;
static int addresses_end, stacks_end, refused;

static int ends(const int *what) {
    if (!__atomic_load_n(what, __ATOMIC_ACQUIRE))
        return 0;
    __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
    return 1;
}

/* The runtime's calls come to these two. */
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
    int (*real)(__rlimit_resource_t, struct rlimit *);
    *(void **)&real = dlsym(RTLD_NEXT, "getrlimit");
    const int error = real(resource, limit);
    if (resource == RLIMIT_AS && ends(&addresses_end))
        limit->rlim_cur = addresses_in_use();
    return error;
}

void *mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
    if ((flags & MAP_STACK) && ends(&stacks_end)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *(*real)(void *, size_t, int, int, int, off_t);
    *(void **)&real = dlsym(RTLD_NEXT, "mmap");
    return real(at, size, access, flags, file, offset);
}

static void rest(void) {
    CHECK_EQ(DOOR(sennit_task_wait_ns)(1000000, NULL), SENNIT_SUCCESS);
}

static void want_all(void) {
#pragma omp critical
    {
        omp_set_lock(&late);
        CHECK_EQ(inside++, 0);
        --inside;
        omp_unset_lock(&late);
    }
#pragma omp atomic
    ++done;
}

static void hold_and_refuse(int *what) {
#pragma omp critical
    {
        omp_set_lock(&early);
        __atomic_store_n(what, 1, __ATOMIC_RELEASE);
        rest();
    }
    omp_set_lock(&late);
    ++inside;
    omp_unset_lock(&early);
    rest();
    --inside;
    omp_unset_lock(&late);
}

static void be_refused(int *what) {
    omp_init_lock(&early);
    omp_init_lock(&late);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * others; ++i) { /* in front of it and behind it */
        if (i == others) {
#pragma omp task
            hold_and_refuse(what);
        }
#pragma omp task
        want_all();
    }
    CHECK_EQ(done, 2 * others);
    omp_destroy_lock(&late);
    omp_destroy_lock(&early);
}

/* In a process of its own. */
static int round_of(int *what) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(20);
        be_refused(what);
        _exit(refused > 0 ? 0 : none_refused);
    }
    int status = -1;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status)); /* else it was the alarm */
    return WEXITSTATUS(status);
}

int main(void) {
    int *const ways[] = {&addresses_end, &stacks_end};
    for (unsigned way = 0; way < sizeof ways / sizeof *ways; ++way) {
        int rounds = 0, result;
        while ((result = round_of(ways[way])) == none_refused) /* all had their stacks already */
            CHECK(++rounds < most_rounds);
        CHECK_EQ(result, 0);
    }
    return 0;
}
