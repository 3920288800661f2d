/* SPDX-License-Identifier: Apache-2.0
 * rank:
 * A rank that ends, waits or tells what it sees, as the first argument asks:
 *   exit R C     rank R ends with code C after MPI_Finalize, the others with 0
 *   raise R S    rank R raises signal S, the others wait
 *   early R W T  rank R ends T microseconds after its start, before MPI_Init: W is kill, segv or a
 *                code of exit(); the others wait
 *   abort R C    rank R calls MPI_Abort with code C, the others wait
 *   print V...   prints the environment variables V of every rank
 *   cat          rank 0 copies its input to its output
 *   leave        as wait; a rank that is asked to end (SIGTERM) does so with code 200
 *   wait         every rank waits for SIGUSR1 a while, then ends: 0 if exactly one came
 *   compute      all compute, and meet every 5 ms, until SIGUSR1 has come to one of them
 * First "rank R of N pid P" is printed for every rank. Rank 0 does all the printing: a launcher may
 * mix the output of several ranks within a line. */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t signals_seen;

static void count_signal(int signal) {
    (void)signal;
    signals_seen = signals_seen + 1;
}

static void leave(int signal) {
    (void)signal;
    _exit(200);
}

static int wait_for_signal(void) {
    for (int i = 0; i < 600 && signals_seen == 0; ++i)
        usleep(100000);
    usleep(500000); /* a second one would be an error */
    return signals_seen == 1 ? 0 : 1;
}

static void compute_until_signal(void) {
    for (int signals = 0; signals == 0;) {
        for (const double end = MPI_Wtime() + 5e-3; MPI_Wtime() < end;)
            ;
        const int own = signals_seen;
        MPI_Allreduce(&own, &signals, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

enum { line_size = 4096 };

static void print_of_all(const char line[line_size], int rank, int size) {
    char *lines = rank == 0 ? malloc((size_t)size * line_size) : NULL;
    MPI_Gather(line, line_size, MPI_CHAR, lines, line_size, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i)
        printf("%s\n", lines + (size_t)i * line_size);
    fflush(stdout);
    free(lines);
}

/* Before MPI_Init, only the launcher says which rank this is. */
static int rank_of_environment(void) {
    const char *text = getenv("PMI_RANK");
    if (!text)
        text = getenv("OMPI_COMM_WORLD_RANK");
    return text ? atoi(text) : -1;
}

static void end_early(const char *way) {
    if (strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(way, "segv") == 0)
        raise(SIGSEGV);
    _exit(atoi(way));
}

int main(int argc, char **argv) {
    signal(SIGUSR1, count_signal);
    if (argc > 4 && strcmp(argv[1], "early") == 0 && atoi(argv[2]) == rank_of_environment()) {
        usleep((useconds_t)atoi(argv[4]));
        end_early(argv[3]);
    }
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char line[line_size];
    snprintf(line, sizeof line, "rank %d of %d pid %d", rank, size, (int)getpid());
    print_of_all(line, rank, size);

    const char *what = argc > 1 ? argv[1] : "";
    const int chosen = argc > 2 && atoi(argv[2]) == rank;
    const int number = argc > 3 ? atoi(argv[3]) : 0;
    int code = 0;
    if (strcmp(what, "exit") == 0 && chosen)
        code = number;
    if (strcmp(what, "raise") == 0) {
        if (chosen) {
            signal(number, SIG_DFL);
            raise(number);
        }
        sleep(60);
    }
    if (strcmp(what, "abort") == 0) {
        if (chosen)
            MPI_Abort(MPI_COMM_WORLD, number);
        sleep(60);
    }
    if (strcmp(what, "print") == 0)
        for (int i = 2; i < argc; ++i) {
            const char *value = getenv(argv[i]);
            snprintf(line, sizeof line, "%d %s=%s", rank, argv[i], value ? value : "(unset)");
            print_of_all(line, rank, size);
        }
    if (strcmp(what, "cat") == 0 && rank == 0)
        for (int c; (c = getchar()) != EOF;)
            putchar(c);
    if (strcmp(what, "leave") == 0)
        signal(SIGTERM, leave);
    if (strcmp(what, "wait") == 0 || strcmp(what, "leave") == 0 || strcmp(what, "early") == 0)
        code = wait_for_signal();
    if (strcmp(what, "compute") == 0)
        compute_until_signal();
    MPI_Finalize();
    return code;
}
