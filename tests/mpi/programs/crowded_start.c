/* SPDX-License-Identifier: Apache-2.0
 * build_once: if="loader and not sanitized" -D_DEFAULT_SOURCE -fPIE -pie
 * once: mpi.{program}.{mpi}.{case} case=plain|own|fork labels=mpi,virtual pass='^started\n$'
 *     run='{on_one_core} {sennit} run --virtual --mpi {mpi} --threads 1 -n 16 {exe}' -- {case}
 * once: mpi.{program}.{mpi}.no_perf mpi=mpich if=x86 labels=mpi,virtual pass='^started\n$'
 *     run='{python} {denying} perf_event_open EPERM {on_one_core}
 *     {sennit} run --virtual --mpi {mpi} -n 8 {exe}'
 * once: mpi.{program}.{mpi}.n128.user labels=mpi,virtual skip=77
 *     run='{as_user} {sennit} run --virtual --mpi {mpi} --threads 1 -n 128 {exe}'
 * once: mpi.{program}.{mpi}.n128.fibers.user if=rank_fibers labels=mpi,virtual skip=77
 *     run='{as_user} {sennit} run --virtual=fibers --mpi {mpi} --threads 1 -n 128 {exe}'
 * Many ranks on few cores: MPI_Init and MPI_Finalize end, and leave no handler, no timer and no
 * event of perf behind.
 *   own       the program has a use of its own for the signal that Sennit would take
 *   fork      another thread forks in MPI_Init: the child has whatever file is open
 *   no_perf   as containers deny it */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void count_signal(int signal) {
    (void)signal;
    seen = seen + 1;
}

static int handled_by(void (*handler)(int)) {
    struct sigaction now;
    return sigaction(SIGVTALRM, NULL, &now) == 0 && now.sa_handler == handler;
}

static int has_event_of_perf(void) {
    char name[64], target[64];
    for (int file = 0; file < 1024; ++file) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", file);
        const ssize_t length = readlink(name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, "perf_event"))
            return 1;
    }
    return 0;
}

/* Longer than any tick of the kernel's. */
static void compute(void) {
    const clock_t end = clock() + CLOCKS_PER_SEC / 50;
    while (clock() < end)
        for (volatile int i = 0; i < 100000; ++i)
            ;
}

static int is_begun;
static pid_t child;

static void *fork_in_time(void *nothing) {
    while (!has_event_of_perf() && !__atomic_load_n(&is_begun, __ATOMIC_ACQUIRE))
        usleep(1000);
    child = fork();
    if (child == 0) {
        alarm(5); /* should the rank die */
        for (;;)
            pause();
    }
    return nothing;
}

int main(int argc, char **argv) {
    const int own = argc > 1 && strcmp(argv[1], "own") == 0;
    const int forks = argc > 1 && strcmp(argv[1], "fork") == 0;
    pthread_t forking;
    void (*const handler)(int) = own ? count_signal : SIG_DFL;
    if (own) {
        const struct itimerval ticks = {{0, 5000}, {0, 5000}};
        struct sigaction ours;
        memset(&ours, 0, sizeof ours);
        ours.sa_handler = count_signal;
        ours.sa_flags = SA_RESTART;
        CHECK(sigaction(SIGVTALRM, &ours, NULL) == 0);
        CHECK(setitimer(ITIMER_VIRTUAL, &ticks, NULL) == 0);
    }
    if (forks)
        CHECK(pthread_create(&forking, NULL, fork_in_time, NULL) == 0);
    begin(&argc, &argv);
    if (forks) {
        __atomic_store_n(&is_begun, 1, __ATOMIC_RELEASE);
        CHECK(pthread_join(forking, NULL) == 0 && child > 0);
    }
    CHECK(handled_by(handler) && !has_event_of_perf());
    compute();
    if (forks)
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    if (own) {
        while (!seen)
            compute();
        const struct itimerval none = {{0, 0}, {0, 0}};
        CHECK(setitimer(ITIMER_VIRTUAL, &none, NULL) == 0);
    }
    int sum = 0;
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || sum == ranks * (ranks - 1) / 2);
    MPI_Finalize();
    if (!handled_by(handler) || has_event_of_perf())
        return 1;
    compute();
    if (rank == 0)
        puts("started");
    return 0;
}
