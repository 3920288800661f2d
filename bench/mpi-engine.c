/* SPDX-License-Identifier: Apache-2.0
 *
 * mpi-engine - what it costs to wait for messages inside tasks, in each way that there is, between
 * two ranks. TAMPI_Iwait and MPIX_Detach are looked up by name: rows that need them are unavailable
 * without them. `mpi-engine memory N` prints the memory of N tasks suspended in MPI.
 */
#define _GNU_SOURCE
#include "harness.h"

#include <dlfcn.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, PENDING_TAG = 20000 };

static int my_rank;
static MPI_Comm background; /* of the messages that nobody sends for a long time */

static int (*iwait)(MPI_Request *, MPI_Status *);
static int (*detach)(MPI_Request *, void (*)(void *), void *);

enum mode { BLOCKING, IWAIT, DETACH, YIELD };

static void fulfil(void *event) {
    omp_fulfill_event((omp_event_handle_t)event);
}

static bool available(enum mode mode) {
    iwait = (int (*)(MPI_Request *, MPI_Status *))dlsym(RTLD_DEFAULT, "TAMPI_Iwait");
    detach = (int (*)(MPI_Request *, void (*)(void *), void *))dlsym(RTLD_DEFAULT, "MPIX_Detach");
    return mode == IWAIT ? iwait != NULL : mode == DETACH ? detach != NULL : true;
}

static void finish(MPI_Request *request, enum mode mode, omp_event_handle_t event) {
    if (mode == IWAIT)
        iwait(request, MPI_STATUS_IGNORE);
    if (mode == DETACH)
        detach(request, fulfil, (void *)event);
    if (mode == YIELD)
        for (int flag = 0; !flag;) {
            MPI_Test(request, &flag, MPI_STATUS_IGNORE);
            if (!flag) {
#pragma omp taskyield
            }
        }
}

static void leg(bool sends, long *buffer, int tag, enum mode mode, omp_event_handle_t event) {
    MPI_Request request;
    const int peer = 1 - my_rank;
    if (mode == BLOCKING) {
        if (sends)
            MPI_Send(buffer, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (sends)
        MPI_Isend(buffer, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(buffer, 1, MPI_LONG, peer, tag, MPI_COMM_WORLD, &request);
    finish(&request, mode, event);
}

/* A chain of tasks, each a message there or back: latency of a round trip. */
static void chain(long trips, enum mode mode) {
    static long buffer;
    buffer = 0;
#pragma omp taskgroup
    for (long i = 0; i < 2 * trips; ++i) {
        const bool sends = (i + my_rank) % 2 == 0;
        if (mode == DETACH) {
            omp_event_handle_t event;
#pragma omp task depend(inout : buffer) firstprivate(sends, mode) detach(event)
            leg(sends, &buffer, 1, mode, event);
        } else {
#pragma omp task depend(inout : buffer) firstprivate(sends, mode)
            leg(sends, &buffer, 1, mode, (omp_event_handle_t)0);
        }
    }
}

static long latency(long trips, long mode) {
    if (!available((enum mode)mode))
        return BENCH_UNAVAILABLE;
#pragma omp parallel
#pragma omp single
    chain(trips, (enum mode)mode);
    return trips;
}

/* Independent tasks, half of them send and half receive, in opposite order on the ranks. */
static long rate(long windows, long parameter) {
    static long in[WINDOW], out[WINDOW];
    const enum mode mode = (enum mode)parameter;
    if (!available(mode))
        return BENCH_UNAVAILABLE;
    for (long w = 0; w < windows; ++w) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 2 * WINDOW; ++i) {
            const bool sends = i >= WINDOW;
            const int tag = my_rank == 0 ? i % WINDOW : WINDOW - 1 - i % WINDOW;
            long *buffer = sends ? &out[tag] : &in[tag];
            if (sends)
                *buffer = tag + w;
            if (mode == DETACH) {
                omp_event_handle_t event;
#pragma omp task firstprivate(sends, mode, tag, buffer) detach(event)
                leg(sends, buffer, 100 + tag, mode, event);
            } else {
#pragma omp task firstprivate(sends, mode, tag, buffer)
                leg(sends, buffer, 100 + tag, mode, (omp_event_handle_t)0);
            }
        }
        for (int i = 0; i < WINDOW; ++i)
            bench_check(in[i] == i + w, "contents of a message");
    }
    return windows * WINDOW;
}

/* `pending` tasks are suspended in MPI_Recv. */
static void begin_waiting(long pending, int *in, long *waiting) {
    *waiting = 0;
    for (long i = 0; i < pending; ++i) {
#pragma omp task firstprivate(i)
        {
#pragma omp atomic
            *waiting += 1;
            MPI_Recv(&in[i], 1, MPI_INT, 1 - my_rank, (int)i, background, MPI_STATUS_IGNORE);
        }
    }
    for (long seen = 0; seen < pending;) {
#pragma omp taskyield
#pragma omp atomic read
        seen = *waiting;
    }
}

/* Their messages; the other rank's tasks get them. */
static void end_waiting(long pending) {
    for (long i = 0; i < pending; ++i) {
#pragma omp task firstprivate(i)
        {
            const int value = (int)i;
            MPI_Send(&value, 1, MPI_INT, 1 - my_rank, value, background);
        }
    }
}

static void check_contents(const int *in, long pending) {
    for (long i = 0; i < pending; ++i)
        bench_check(in[i] == i, "contents of a message");
}

/* The chain while `pending` other tasks are suspended: how they got there is another row. */
static long with_pending(long trips, long pending) {
    int *in = malloc((size_t)pending * sizeof *in);
    long waiting;
    bench_pause();
#pragma omp parallel
#pragma omp single
    {
        begin_waiting(pending, in, &waiting);
        MPI_Barrier(background);
        bench_resume();
        chain(trips, BLOCKING);
        bench_pause();
        end_waiting(pending);
    }
    check_contents(in, pending);
    free(in);
    bench_resume();
    return trips;
}

/* Tasks are suspended, all at once, and resumed. */
static long suspended(long pending, long unused) {
    int *in = malloc((size_t)pending * sizeof *in);
    long waiting;
    (void)unused;
#pragma omp parallel
#pragma omp single
    {
        begin_waiting(pending, in, &waiting);
        end_waiting(pending);
    }
    check_contents(in, pending);
    free(in);
    return pending;
}

/* Every thread has a partner in the other rank. In the region's threads MPI is called by all at
 * once (MPI_THREAD_MULTIPLE); in tasks the engine is between. */
static void partners(long trips, int tag) {
    long buffer = tag;
    for (long i = 0; i < trips; ++i) {
        if (my_rank == 0)
            MPI_Send(&buffer, 1, MPI_LONG, 1, tag, MPI_COMM_WORLD);
        MPI_Recv(&buffer, 1, MPI_LONG, 1 - my_rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (my_rank == 1)
            MPI_Send(&buffer, 1, MPI_LONG, 0, tag, MPI_COMM_WORLD);
    }
    bench_check(buffer == tag, "contents of a message");
}

static long contention(long trips, long in_tasks) {
    enum { partnerships = 8 };
#pragma omp parallel num_threads(partnerships)
    {
        const int tag = 300 + omp_get_thread_num();
        if (!in_tasks) {
            partners(trips, tag);
        } else {
#pragma omp task firstprivate(tag)
            partners(trips, tag);
        }
    }
    return trips * partnerships;
}

/* Round trips without a task, on the initial thread: what a program that uses MPI as ever pays. */
static long outside(long trips, long unused) {
    (void)unused;
    partners(trips, 2);
    return trips;
}

/* The same while the MPI has `pending` receives: what they cost in MPI itself. */
static long outside_pending(long trips, long pending) {
    int *in = malloc((size_t)pending * sizeof *in);
    MPI_Request *requests = malloc((size_t)pending * sizeof *requests);
    bench_pause();
    for (long i = 0; i < pending; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, 1 - my_rank, (int)i, background, &requests[i]);
    MPI_Barrier(background);
    bench_resume();
    partners(trips, 3);
    bench_pause();
    for (long i = 0; i < pending; ++i) {
        const int value = (int)i;
        MPI_Send(&value, 1, MPI_INT, 1 - my_rank, value, background);
    }
    for (long i = 0; i < pending; ++i)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    check_contents(in, pending);
    free(requests);
    free(in);
    bench_resume();
    return trips;
}

/* One-sided: `trips` epochs that put 8 bytes into the other rank's memory. An epoch is a lock and
 * an unlock, or, within one that all share, a flush. Two locks of one target must not overlap, so
 * those epochs depend on each other. */
enum epoch { LOCK, FLUSH };
enum place { OUTSIDE, CHAIN, TASKS };

static void put_one(long *from, long slot, enum epoch epoch, MPI_Win window) {
    const int peer = 1 - my_rank;
    if (epoch == LOCK)
        MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, window);
    MPI_Put(from, 1, MPI_LONG, peer, slot, 1, MPI_LONG, window);
    if (epoch == LOCK)
        MPI_Win_unlock(peer, window);
    else
        MPI_Win_flush(peer, window);
}

static void put_all(long trips, enum place place, enum epoch epoch, MPI_Win window) {
    static long out[WINDOW];
    for (long i = 0; i < trips; ++i) {
        long *from = &out[i % WINDOW];
        if (place == OUTSIDE) {
            *from = i;
            put_one(from, i % WINDOW, epoch, window);
        } else if (place == CHAIN) {
#pragma omp task depend(inout : out) firstprivate(i, from, epoch, window)
            {
                *from = i;
                put_one(from, i % WINDOW, epoch, window);
            }
        } else {
#pragma omp task firstprivate(i, from, epoch, window)
            {
                *from = i;
                put_one(from, i % WINDOW, epoch, window);
            }
            if (i % WINDOW == WINDOW - 1) {
#pragma omp taskwait
            }
        }
    }
}

static long one_sided(long trips, long parameter) {
    const enum place place = (enum place)(parameter % 3);
    const enum epoch epoch = (enum epoch)(parameter / 3);
    long *memory;
    MPI_Win window;
    bench_pause();
    MPI_Win_allocate(WINDOW * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    if (epoch == FLUSH)
        MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_resume();
    if (place == OUTSIDE) {
        put_all(trips, place, epoch, window);
    } else {
#pragma omp parallel
#pragma omp single
        put_all(trips, place, epoch, window);
    }
    bench_pause();
    MPI_Barrier(MPI_COMM_WORLD);
    if (epoch == FLUSH)
        MPI_Win_unlock_all(window);
    MPI_Win_lock(MPI_LOCK_SHARED, my_rank, 0, window);
    for (long i = trips > WINDOW ? trips - WINDOW : 0; i < trips; ++i)
        bench_check(memory[i % WINDOW] == i, "contents of a message");
    MPI_Win_unlock(my_rank, window);
    MPI_Win_free(&window);
    bench_resume();
    return trips;
}

static long agree(long value) {
    MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    return value;
}

static const struct bench_row rows[] = {
    {"outside", "trip", "no tasks: the bare MPI's latency", 500, 0, outside},
    {"latency-blocking", "trip", "a chain of tasks that call MPI_Send and MPI_Recv", 100, BLOCKING,
     latency},
    {"latency-iwait", "trip", "the chain, completed by TAMPI_Iwait", 100, IWAIT, latency},
    {"latency-detach", "trip", "the chain, detached and completed by MPIX_Detach", 100, DETACH,
     latency},
    {"latency-yield", "trip", "the chain, MPI_Test and taskyield until it is complete", 100, YIELD,
     latency},
    {"rate-blocking", "message", "64 tasks send, 64 receive", 3, BLOCKING, rate},
    {"rate-iwait", "message", "the same with TAMPI_Iwait", 3, IWAIT, rate},
    {"rate-detach", "message", "the same with MPIX_Detach", 3, DETACH, rate},
    {"rate-yield", "message", "the same with MPI_Test and taskyield", 3, YIELD, rate},
    {"outside-1", "trip", "no tasks, 1 receive of MPI's pending", 1000, 1, outside_pending},
    {"outside-100", "trip", "beside 100 receives", 1000, 100, outside_pending},
    {"outside-10000", "trip", "beside 10,000 receives", 1000, 10000, outside_pending},
    {"pending-1", "trip", "the blocking chain beside 1 suspended task", 1000, 1, with_pending},
    {"pending-100", "trip", "beside 100 suspended tasks", 1000, 100, with_pending},
    {"pending-10000", "trip", "beside 10,000 suspended tasks", 1000, 10000, with_pending},
    {"suspended-10000", "task", "10,000 tasks are suspended and resumed", 10000, 0, suspended},
    {"contention-threads", "trip", "8 threads a rank, all in MPI", 50, 0, contention},
    {"contention-tasks", "trip", "8 tasks a rank", 50, 1, contention},
    {"lock-outside", "epoch", "MPI_Win_lock, MPI_Put, MPI_Win_unlock, no tasks", 500,
     3 * LOCK + OUTSIDE, one_sided},
    {"lock-chain", "epoch", "the same in a chain of tasks", 500, 3 * LOCK + CHAIN, one_sided},
    {"flush-outside", "epoch", "MPI_Put, MPI_Win_flush, no tasks", 512, 3 * FLUSH + OUTSIDE,
     one_sided},
    {"flush-chain", "epoch", "the same in a chain of tasks", 512, 3 * FLUSH + CHAIN, one_sided},
    {"flush-tasks", "epoch", "the same in 64 independent tasks", 512, 3 * FLUSH + TASKS, one_sided},
};

static long resident_kib(void) {
    long kib = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

static void memory(long count) {
    int *in = malloc((size_t)count * sizeof *in);
    memset(in, -1, (size_t)count * sizeof *in);
    long before = resident_kib(), after = 0;
#pragma omp parallel
#pragma omp single
    {
        for (long i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
            MPI_Recv(&in[i], 1, MPI_INT, 1 - my_rank, (int)(i % PENDING_TAG), background,
                     MPI_STATUS_IGNORE);
        }
#pragma omp task
        {
            MPI_Barrier(
                MPI_COMM_WORLD); /* both ranks' tasks are suspended, or wait for their turn */
            after = resident_kib();
            for (long i = 0; i < count; ++i) {
                const int value = (int)(i % PENDING_TAG);
                MPI_Send(&value, 1, MPI_INT, 1 - my_rank, value, background);
            }
        }
    }
    for (long i = 0; i < count; ++i)
        bench_check(in[i] == (int)(i % PENDING_TAG), "contents of a message");
    if (my_rank == 0)
        printf("memory tasks=%ld bytes-per-task=%.0f afterwards=%ld KiB\n", count,
               1024.0 * (double)(after - before) / (double)count, resident_kib());
    free(in);
}

int main(int argc, char **argv) {
    struct bench_program program = {.rows = rows, .row_count = BENCH_COUNT(rows)};
    if (argc == 2 && argv[1][0] == '-') /* --list and --info need no MPI */
        return bench_main(argc, argv, &program);
    int provided, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &background);
    bench_check(ranks == 2, "mpi-engine needs exactly two ranks");
    bench_check(provided == MPI_THREAD_MULTIPLE, "mpi-engine needs MPI_THREAD_MULTIPLE");
    int status = 0;
    if (argc == 3 && strcmp(argv[1], "memory") == 0) {
        memory(atol(argv[2]));
    } else {
        program.agree = agree;
        program.reporter = my_rank == 0;
        status = bench_main(argc, argv, &program);
    }
    MPI_Comm_free(&background);
    MPI_Finalize();
    return status;
}
