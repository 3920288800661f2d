/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: OMP_STACKSIZE=8M
 * Stacks are refused all of a sudden, while a task holds locks that it took when nothing told so.
 * It must not be under a task that wants them: not when the first stack is refused, nor after it
 * has taken another lock and given back an old one. Once because of the process's addresses, once
 * because mmap fails. (OMP_STACKSIZE=8M: no stack fits into what is left.)
 */
#include "sennit_door.h"

#include <sys/resource.h>
#include <sys/wait.h>

enum { others = 50 };

static omp_lock_t early, late;
static int inside, done;

/* Leave the process `more` bytes of what the limit counts: the field of /proc/self/statm. */
static void limit_memory(__rlimit_resource_t resource, int field, rlim_t more) {
    long pages[7];
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file);
    for (int i = 0; i < 7; ++i)
        CHECK_EQ(fscanf(file, "%ld", &pages[i]), 1);
    fclose(file);
    const rlim_t limit = (rlim_t)(pages[field] * sysconf(_SC_PAGESIZE)) + more;
    CHECK_EQ(setrlimit(resource, &(struct rlimit){limit, limit}), 0);
}

static void limit_addresses(void) {
    limit_memory(RLIMIT_AS, 0, 20 << 20);
}
static void limit_data(void) {
    limit_memory(RLIMIT_DATA, 5, 4 << 20);
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

static void hold_and_refuse(void (*refuse)(void)) {
#pragma omp critical
    {
        omp_set_lock(&early);
        refuse();
        rest();
    }
    omp_set_lock(&late);
    ++inside;
    omp_unset_lock(&early);
    rest();
    --inside;
    omp_unset_lock(&late);
}

static void be_refused(void (*refuse)(void)) {
    omp_init_lock(&early);
    omp_init_lock(&late);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * others; ++i) { /* in front of it and behind it */
        if (i == others) {
#pragma omp task
            hold_and_refuse(refuse);
        }
#pragma omp task
        want_all();
    }
    CHECK_EQ(done, 2 * others);
    omp_destroy_lock(&late);
    omp_destroy_lock(&early);
}

int main(void) {
    void (*const ways[])(void) = {limit_addresses, limit_data};
    for (unsigned way = 0; way < sizeof ways / sizeof *ways; ++way) {
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            alarm(20);
            be_refused(ways[way]);
            _exit(0);
        }
        int status = -1;
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status)); /* else it was the alarm */
        CHECK_EQ(WEXITSTATUS(status), 0);
    }
    return 0;
}
