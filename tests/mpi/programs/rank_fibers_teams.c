/* SPDX-License-Identifier: Apache-2.0
 * build_once: if=rank_fibers -fPIE -pie -fopenmp -- {homecomings} -lm
 * The threads of OpenMP teams of rank fibers, which hop as main flows do: what has to stay a
 * thread's own, that no kernel thread of theirs has a part in their regions, and how a rank ends by
 * one.
 *
 *   rank_fibers_teams whole   all cases; exit code 0
 *   rank_fibers_teams WAY     another thread than the first of rank 1 ends it: exit, segfault,
 * abort
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "homecomings.h"
#include "team_work.h"

/* MOST: the runtime starts a thread of its own once, whichever thread asks for it. */
enum { THREADS = 3, TIMES = 200, FEW = 40, MOST = 2 };

static int own;
#pragma omp threadprivate(own)
static __thread long other_own;

static void hop(void) {
    int token = 0;
    if (rank == 0)
        MPI_Send(&token, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Send(&token, 1, MPI_INT, next(), 0, MPI_COMM_WORLD);
}

/* Regions, barriers, critical sections and tasks, without the kernel: no thread comes home. What
 * the MPI does between two regions does not count: it may look at its sockets by the clock. */
static void regions(void) {
    long before[THREADS] = {0}, more[THREADS] = {0};
    volatile long sum = 0;
    for (int i = 0; i <= TIMES; ++i) {
        hop();
        const long begin = homecomings();
#pragma omp parallel
        {
            const int me = omp_get_thread_num();
            if (i == 0 && me != 0)
                before[me] = homecomings();
            work_together(&sum, THREADS);
            if (i == TIMES && me != 0)
                more[me] = homecomings() - before[me];
        }
        CHECK(begin >= 0);
        if (i > 0)
            more[0] += homecomings() - begin;
    }
    CHECK(sum == 2L * (TIMES + 1) * THREADS);
    for (int i = 0; i < THREADS; ++i)
        if (more[i] > MOST) {
            fprintf(stderr, "rank %d: thread %d came home %ld times in %d regions\n", rank, i,
                    more[i], TIMES);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* A system call does bring a thread home: the count is one. */
static void counted(void) {
    long mine = homecomings(), all = 0;
    for (int k = 0; k < FEW; ++k) {
        hop();
        getppid();
    }
    mine = homecomings() - mine;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 0);
}

static void thread_is_its_own(void) {
    pthread_t self[THREADS];
    long number[THREADS];
    own = 0;
#pragma omp parallel copyin(own)
    {
        const int i = omp_get_thread_num();
        self[i] = pthread_self();
        number[i] = syscall(SYS_gettid);
        other_own = 1000 * rank + i;
    }
    CHECK(number[0] == getpid() && number[1] != number[0] && number[2] != number[1]);
    for (int k = 0; k < FEW; ++k) {
        hop();
#pragma omp parallel
        {
            const int i = omp_get_thread_num();
            errno = 100 * i + k;
#pragma omp barrier
            CHECK(errno == 100 * i + k);
            CHECK(pthread_equal(self[i], pthread_self()) && syscall(SYS_gettid) == number[i]);
            CHECK(syscall(SYS_getpid) == number[0]);
            CHECK(own == k && other_own == 1000 * rank + i);
            ++own;
        }
    }
}

/* Files, folders and pipes are the rank's, whichever thread asks. */
static void calls(void) {
    int pipes[THREADS][2];
    for (int i = 0; i < THREADS; ++i)
        CHECK(pipe(pipes[i]) == 0);
    for (int k = 0; k < FEW; ++k) {
        hop();
#pragma omp parallel
        {
            const int i = omp_get_thread_num(), to = (i + 1) % THREADS;
            const int out = 1000 * rank + i;
            int in = -1;
            CHECK(write(pipes[to][1], &out, sizeof out) == sizeof out);
            CHECK(read(pipes[i][0], &in, sizeof in) == sizeof in);
            CHECK(in == 1000 * rank + (i + THREADS - 1) % THREADS);
        }
    }
    for (int i = 0; i < THREADS; ++i) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
}

/* A thread waits for another one in a way that nobody knows of. */
static void spinning(void) {
    volatile int turn = 0;
    for (int k = 0; k < 5; ++k) {
        hop();
        turn = 0;
#pragma omp parallel
        {
            while (turn != omp_get_thread_num()) {
            }
            ++turn;
        }
    }
}

static __thread sigjmp_buf back;
static void jump_back(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}

static void faults(void) {
    struct sigaction action = {.sa_handler = jump_back};
    sigaction(SIGSEGV, &action, NULL);
    volatile int *const wall = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int caught = 0;
    for (int k = 0; k < FEW; ++k) {
        hop();
#pragma omp parallel reduction(+ : caught)
        {
            if (sigsetjmp(back, 1) == 0)
                *wall = 1;
            else
                ++caught;
#pragma omp barrier
        }
    }
    CHECK(caught == FEW * THREADS);
    munmap((void *)wall, 4096);
    signal(SIGSEGV, SIG_DFL);
}

static volatile sig_atomic_t alarms;
static void count_alarm(int signal) {
    (void)signal;
    alarms = alarms + 1;
}

/* A signal for the rank comes while its threads wait, and is not lost. */
static void signals(void) {
    signal(SIGUSR1, count_alarm);
    for (int k = 0; k < FEW; ++k) {
        const int before = alarms;
        hop();
        if (k % 2 == 0) {
#pragma omp parallel
            if (omp_get_thread_num() == 1)
                CHECK(kill(getpid(), SIGUSR1) == 0);
        } else {
            CHECK(kill(getpid(), SIGUSR1) == 0);
        }
        while (alarms == before) {
        }
    }
    signal(SIGUSR1, SIG_DFL);
}

/* libc changes the user of each thread by a signal to it, and waits for all. */
static void users(void) {
    hop();
#pragma omp parallel
    {
#pragma omp barrier
    }
    hop();
    CHECK(seteuid(geteuid()) == 0);
}

/* The mode of floating point is the thread's. */
static void modes(void) {
#pragma omp parallel
    CHECK(fesetround(omp_get_thread_num() % 2 ? FE_UPWARD : FE_DOWNWARD) == 0);
    for (int k = 0; k < FEW; ++k) {
        hop();
#pragma omp parallel
        {
            const int mode = omp_get_thread_num() % 2 ? FE_UPWARD : FE_DOWNWARD;
            CHECK(fesetround(mode) == 0);
#pragma omp barrier
            CHECK(fegetround() == mode);
            getppid();
            CHECK(fegetround() == mode);
        }
    }
#pragma omp parallel
    fesetround(FE_TONEAREST);
}

/* Threads of teams that end and others that begin. */
static void *team(void *unused) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    CHECK(sum == 3);
    return unused;
}
static void come_and_go(void) {
    for (int k = 0; k < 20; ++k) {
        pthread_t thread;
        hop();
        CHECK(pthread_create(&thread, NULL, team, NULL) == 0);
#pragma omp parallel num_threads(2 + k % 4)
        {
#pragma omp barrier
        }
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(omp_pause_resource_all(omp_pause_soft) == 0);
    }
}

static void end_as(const char *way) {
    for (int k = 0;; ++k) {
        hop();
#pragma omp parallel
        {
#pragma omp barrier
            if (k == FEW && rank == 1 && omp_get_thread_num() == 1) {
                if (strcmp(way, "exit") == 0)
                    _exit(5);
                if (strcmp(way, "segfault") == 0)
                    *(volatile int *)8 = 1;
                if (strcmp(way, "abort") == 0)
                    abort();
            }
            if (k == FEW && rank == 1)
                for (;;) { /* until the process ends */
                }
        }
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    omp_set_num_threads(THREADS);
    omp_set_dynamic(0);
    if (argc > 1 && strcmp(argv[1], "whole") != 0)
        end_as(argv[1]);
    regions();
    counted();
    thread_is_its_own();
    calls();
    spinning();
    faults();
    signals();
    users();
    modes();
    come_and_go();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("teams");
    MPI_Finalize();
    return 0;
}
