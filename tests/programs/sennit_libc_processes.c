/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": tasks that wait for a child which another task
 * lets end, for a lock on a file that another task gives back, for a signal that another task
 * sends, and tasks in children of fork() and vfork(). */
#define _GNU_SOURCE
#include "libc_calls.h"
#include "sennit_door.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static int gate[2];
static pid_t child;

/* A child that ends with 3 when somebody writes to the gate. */
static void make_child(void) {
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char byte;
        _exit(read(gate[0], &byte, 1) == 1 ? 3 : 4);
    }
}
static void open_gate(void) {
    CHECK_EQ(write(gate[1], "x", 1), 1);
}

static void check_status(int status) {
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 3);
}
static void by_waitpid(void) {
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    check_status(status);
    errno = 0;
    CHECK_EQ(waitpid(child, &status, 0), -1);
    CHECK_EQ(errno, ECHILD);
}
static void by_wait(void) {
    int status = 0;
    CHECK_EQ(wait(&status), child);
    check_status(status);
}
static void by_wait4(void) {
    int status = 0;
    struct rusage usage;
    CHECK_EQ(wait4(-1, &status, WUNTRACED, &usage), child);
    check_status(status);
}
static void by_waitid(void) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    CHECK_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    CHECK_EQ(info.si_pid, child);
    CHECK_EQ(info.si_status, 3);
    CHECK_EQ(waitid(P_ALL, 0, NULL, WEXITED), 0);
}

static void children(void) {
    void (*const waits[])(void) = {by_waitpid, by_wait, by_wait4, by_waitid};
    CHECK_EQ(pipe(gate), 0);
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; ++i) {
        make_child();
        one_after_the_other(waits[i], open_gate);
    }
}

/* Two open descriptions of one file exclude each other, as two processes do. */
static int locks[2];
static void lock_second(void) {
    CHECK_EQ(flock(locks[1], LOCK_EX), 0);
    CHECK_EQ(flock(locks[1], LOCK_UN), 0);
}
static void unlock_first(void) {
    errno = 0;
    CHECK_EQ(flock(locks[1], LOCK_EX | LOCK_NB), -1);
    CHECK_EQ(errno, EWOULDBLOCK);
    CHECK_EQ(flock(locks[0], LOCK_UN), 0);
}
static void let_child_unlock(void) {
    CHECK_EQ(write(gate[1], "x", 1), 1);
}
static void file_locks(void) {
    char path[] = "/tmp/sennit-libc-XXXXXX";
    locks[0] = mkstemp(path);
    locks[1] = open(path, O_RDWR);
    CHECK(locks[0] >= 0 && locks[1] >= 0);
    CHECK_EQ(flock(locks[0], LOCK_EX), 0);
    one_after_the_other(lock_second, unlock_first);

    /* Another process has it. */
    int ready[2];
    CHECK_EQ(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        char byte;
        const int own = open(path, O_RDWR);
        const int done = flock(own, LOCK_EX) == 0 && write(ready[1], "x", 1) == 1 &&
                         read(gate[0], &byte, 1) == 1;
        _exit(done ? 3 : 4);
    }
    char byte;
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    one_after_the_other(lock_second, let_child_unlock);
    by_waitpid();
    unlink(path);
    close(locks[0]);
    close(locks[1]);
}

/* Signals that every thread blocks. */
static sigset_t awaited;
static pthread_t waiter;
static volatile int is_known;
static void by_sigwait(void) {
    int got = 0;
    waiter = pthread_self();
    is_known = 1;
    CHECK_EQ(sigwait(&awaited, &got), 0);
    CHECK_EQ(got, SIGUSR2);
}
static void by_sigwaitinfo(void) {
    siginfo_t info;
    CHECK_EQ(sigwaitinfo(&awaited, &info), SIGUSR2);
    CHECK_EQ(info.si_pid, getpid());
}
static void by_sigtimedwait(void) {
    const struct timespec long_time = {60, 0};
    CHECK_EQ(sigtimedwait(&awaited, NULL, &long_time), SIGUSR2);
}
static void in_vain(void) {
    const struct timespec moment = {0, 3000000};
    errno = 0;
    CHECK_EQ(sigtimedwait(&awaited, NULL, &moment), -1);
    CHECK_EQ(errno, EAGAIN);
}
static void send_to_process(void) {
    CHECK_EQ(kill(getpid(), SIGUSR2), 0);
}
static void send_to_thread(void) {
    while (!is_known)
        usleep(100);
    CHECK_EQ(pthread_kill(waiter, SIGUSR2), 0);
}
static void block_signals(void) {
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    sigaddset(&awaited, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &awaited, NULL), 0);
}
static void signals(void) {
    one_after_the_other(by_sigwait, send_to_process);
    one_after_the_other(by_sigwaitinfo, send_to_process);
    one_after_the_other(by_sigtimedwait, send_to_process);
    one_after_the_other(in_vain, in_vain);
    is_known = 0;
    one_after_the_other(by_sigwait, send_to_thread);
}

/* The child of fork() has the calling thread's tasks, and waits anew. */
static void fork_in_task(void) {
    volatile int status = -1;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        usleep(1000);
#pragma omp task shared(status)
        {
            usleep(2000);
            const pid_t forked = fork();
            if (forked == 0) {
                usleep(1000);
                char byte;
                int ends[2];
                const struct timespec moment = {0, 1000000};
                nanosleep(&moment, NULL);
                _exit(pipe(ends) == 0 && write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1
                          ? 3
                          : 4);
            }
            int result = 0;
            CHECK_EQ(waitpid(forked, &result, 0), forked);
            status = result;
        }
#pragma omp task
        usleep(4000);
    }
    check_status(status);
}

/* A child of vfork() has its parent's memory: its calls must not touch the parent's tasks. */
static void vfork_in_task(void) {
    int result = -1;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        usleep(5000);
#pragma omp task shared(result)
        {
            const pid_t forked = vfork();
            if (forked == 0) {
                usleep(2000);
                _exit(3);
            }
            CHECK_EQ(waitpid(forked, &result, 0), forked);
        }
#pragma omp task
        usleep(5000);
    }
    check_status(result);
}

int main(void) {
    block_signals(); /* before there are other threads */
    children();
    file_locks();
    signals();
    fork_in_task();
    vfork_in_task();
    puts("ok");
    return 0;
}
