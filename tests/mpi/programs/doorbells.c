/* SPDX-License-Identifier: Apache-2.0
 * build_once: -D_DEFAULT_SOURCE -pthread
 * More ranks than cores: every kind of call that waits, outside of tasks. And how much processor
 * time a rank takes that waits.
 * usage: doorbells all|threads|wait SECONDS|long SECONDS|trips TRIPS|spins TRIPS|get TRIPS|fence
 * SECONDS|meet SECONDS|kill|leave|stop| start COMMAND */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG = 1 << 20 };
static int big_out[LONG], big_in[LONG];

static void messages(MPI_Comm comm) {
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    const int left = (me + size - 1) % size, right = (me + 1) % size;
    for (int round = 0; round < 20; ++round) {
        /* a token around the ring, short and long */
        const int count = round % 5 == 4 ? LONG : 1;
        big_out[count - 1] = round;
        if (me == 0)
            MPI_Send(big_out, count, MPI_INT, right, 1, comm);
        MPI_Recv(big_in, count, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
        CHECK(big_in[count - 1] == round);
        if (me != 0)
            MPI_Send(big_in, count, MPI_INT, right, 1, comm);
        /* one element that is long */
        if (round == 7) {
            MPI_Datatype column;
            MPI_Type_vector(LONG / 4, 1, 2, MPI_INT, &column);
            MPI_Type_commit(&column);
            for (int i = 0; i < LONG / 4; ++i)
                big_out[2 * i] = i;
            if (me == 0)
                MPI_Send(big_out, 1, column, right, 8, comm);
            MPI_Recv(big_in, 1, column, left, 8, comm, MPI_STATUS_IGNORE);
            for (int i = 0; i < LONG / 4; ++i)
                CHECK(big_in[2 * i] == i);
            if (me != 0)
                MPI_Send(big_in, 1, column, right, 8, comm);
            MPI_Type_free(&column);
        }
        /* both neighbours at once */
        MPI_Request requests[4];
        MPI_Status statuses[4];
        int from[2] = {-1, -1};
        MPI_Irecv(&from[0], 1, MPI_INT, left, 2, comm, &requests[0]);
        MPI_Irecv(&from[1], 1, MPI_INT, right, 3, comm, &requests[1]);
        MPI_Isend(&me, 1, MPI_INT, right, 2, comm, &requests[2]);
        MPI_Issend(&me, 1, MPI_INT, left, 3, comm, &requests[3]);
        MPI_Waitall(4, requests, statuses);
        CHECK(from[0] == left && from[1] == right);
        int got = -1;
        MPI_Sendrecv(&me, 1, MPI_INT, right, 4, &got, 1, MPI_INT, left, 4, comm, MPI_STATUS_IGNORE);
        CHECK(got == left);
    }
    /* any source, by a probe and by a loop of the program's own */
    if (me == 0) {
        int sum = 0;
        for (int i = 1; i < size; ++i) {
            MPI_Status status;
            int value, flag = 0;
            if (i % 2)
                MPI_Probe(MPI_ANY_SOURCE, 5, comm, &status);
            else
                while (!flag)
                    MPI_Iprobe(MPI_ANY_SOURCE, 5, comm, &flag, &status);
            MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 5, comm, MPI_STATUS_IGNORE);
            CHECK(value == status.MPI_SOURCE);
            sum += value;
        }
        CHECK(sum == size * (size - 1) / 2);
    } else {
        MPI_Ssend(&me, 1, MPI_INT, 0, 5, comm);
    }
    MPI_Request request;
    int flag = 0, persistent = -1;
    MPI_Recv_init(&persistent, 1, MPI_INT, left, 6, comm, &request);
    MPI_Start(&request);
    MPI_Send(&me, 1, MPI_INT, right, 6, comm);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(persistent == left);
    MPI_Request_free(&request);
}

/* Tests in vain between pieces of work are no wait: a nap for each would take minutes. */
static void tests_between_work(MPI_Comm comm) {
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    int got = -1, flag = 0;
    unsigned long long work = 1;
    MPI_Request request;
    MPI_Irecv(&got, 1, MPI_INT, left, 8, comm, &request);
    MPI_Barrier(comm);
    for (int i = 0; i < 100000; ++i) {
        work = work * 6364136223846793005u + 1442695040888963407u;
        if (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    CHECK(work != 0);
    MPI_Send(&rank, 1, MPI_INT, right, 8, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == left);
}

static void worst(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; ++i)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void collectives(MPI_Comm comm) {
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    MPI_Op own;
    MPI_Op_create(worst, 1, &own);
    int all[64], sum, root = 0, most = -1;
    CHECK(size <= 64);
    for (int round = 0; round < 20; ++round) {
        MPI_Barrier(comm);
        root = round % size;
        int value = me == root ? round : -1;
        MPI_Bcast(&value, 1, MPI_INT, root, comm);
        CHECK(value == round);
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size * (size - 1) / 2);
        MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int i = 0; i < size; ++i)
            CHECK(all[i] == i);
        MPI_Allreduce(&me, &most, 1, MPI_INT, own, comm);
        CHECK(most == size - 1);
        MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_MAX, root, comm);
        CHECK(me != root || sum == size - 1);
    }
    MPI_Op_free(&own);
}

/* Collectives of one long element for each rank, and such that the program waits for. */
static void long_collectives(MPI_Comm comm) {
    enum { PART = LONG / 64 }; /* for up to 32 ranks */
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    CHECK(size <= 32);
    MPI_Datatype column;
    MPI_Type_vector(PART, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    int counts[32], places[32], starts[32];
    MPI_Datatype types[32];
    for (int i = 0; i < size; ++i) {
        counts[i] = 1;
        places[i] = i;
        starts[i] = i * 2 * PART * (int)sizeof(int);
        types[i] = column;
    }
    MPI_Datatype block; /* as far apart as the columns of two ranks */
    MPI_Type_create_resized(column, 0, 2 * PART * (MPI_Aint)sizeof(int), &block);
    MPI_Type_commit(&block);
    for (int call = 0; call < 7; ++call) {
        const int root = call % size;
        for (int i = 0; i < 2 * PART * size; ++i) {
            big_out[i] = me * 1000 + i / (2 * PART);
            big_in[i] = -1;
        }
        MPI_Request request = MPI_REQUEST_NULL;
        switch (call) {
        case 0:
            MPI_Gather(big_out, 1, block, big_in, 1, block, root, comm);
            break;
        case 1:
            MPI_Scatter(big_out, 1, block, big_in, 1, block, root, comm);
            break;
        case 2:
            MPI_Allgather(big_out, 1, block, big_in, 1, block, comm);
            break;
        case 3:
            MPI_Alltoallv(big_out, counts, places, block, big_in, counts, places, block, comm);
            break;
        case 4:
            MPI_Alltoallw(big_out, counts, starts, types, big_in, counts, starts, types, comm);
            break;
        case 5:
            MPI_Igatherv(big_out, 1, block, big_in, counts, places, block, root, comm, &request);
            break;
        default:
            MPI_Ialltoallv(big_out, counts, places, block, big_in, counts, places, block, comm,
                           &request);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        const int to_root = call == 0 || call == 5, from_root = call == 1;
        for (int from = 0; from < size; ++from)
            for (int i = 0; i < PART; i += PART - 1) {
                const int found = big_in[2 * (from * PART + i)];
                if (from_root)
                    CHECK(found == (from == 0 ? root * 1000 + me : -1));
                else if (to_root || call == 2)
                    CHECK(found == (to_root && me != root ? -1 : from * 1000));
                else
                    CHECK(found == from * 1000 + me);
            }
    }
    MPI_Type_free(&block);
    MPI_Type_free(&column);
}

static void communicators(void) {
    MPI_Comm halves, twin, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
    messages(halves);
    collectives(halves);
    MPI_Comm_dup(halves, &twin);
    collectives(twin);
    MPI_Comm_free(&twin);
    if (ranks > 1) {
        MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
        int got = -1, remote;
        MPI_Comm_remote_size(between, &remote);
        MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_MIN, between);
        CHECK(got == 1 - rank % 2);
        MPI_Barrier(between);
        MPI_Comm_free(&between);
    }
    MPI_Comm_free(&halves);
    IN_WINDOW int memory = -1;
    int value = rank;
    MPI_Win window;
    MPI_Win_create(&memory, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(memory == (rank + ranks - 1) % ranks);
    MPI_Win_free(&window);
}

static double used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Seconds in which this thread had a core or stood in line for one, or `known` where the system
 * does not tell. */
static double asked(double known) {
    unsigned long long ran, stood;
    FILE *file = fopen("/proc/self/schedstat", "r");
    if (!file)
        return known;
    if (fscanf(file, "%llu %llu", &ran, &stood) == 2)
        known = 1e-9 * (double)(ran + stood);
    fclose(file);
    return known;
}

static double begun, before, asked_before;
/* Threads of the program's own, in calls at the same time: each with its like of the other ranks.
 */
static void *call_in_thread(void *argument) {
    const MPI_Comm comm = *(const MPI_Comm *)argument;
    for (int round = 0; round < 30; ++round) {
        int token = -1, sum = 0;
        if (rank == round % ranks)
            MPI_Send(&round, 1, MPI_INT, next(), round, comm);
        MPI_Recv(&token, 1, MPI_INT, previous(), round, comm, MPI_STATUS_IGNORE);
        CHECK(token == round);
        if (rank != round % ranks)
            MPI_Ssend(&token, 1, MPI_INT, next(), round, comm);
        MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == round * ranks);
        MPI_Barrier(comm);
    }
    return NULL;
}

static void threads(void) {
    enum { THREADS = 4 };
    pthread_t started[THREADS];
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; ++i)
        CHECK(pthread_create(&started[i], NULL, call_in_thread, &comms[i]) == 0);
    for (int i = 0; i < THREADS; ++i)
        pthread_join(started[i], NULL);
    for (int i = 0; i < THREADS; ++i)
        MPI_Comm_free(&comms[i]);
}

static void begin_wait(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    begun = MPI_Wtime();
    before = used();
    asked_before = asked(before);
}
static void end_wait(void) {
    const double after = used(), seconds = MPI_Wtime() - begun;
    printf("%.4f of a core, asked for %.4f\n", (after - before) / seconds,
           (asked(after) - asked_before) / seconds);
}

/* All ranks but the last wait for its message. */
static void receive_late(double seconds) {
    int token = 0;
    begin_wait();
    if (rank == ranks - 1) {
        usleep((useconds_t)(seconds * 1e6));
        for (int i = 0; i < ranks - 1; ++i)
            MPI_Send(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end_wait();
    }
}

/* Rank 0 computes, for so much processor time, without a call. The others pass a token around until
 * it tells them that it is done. */
static void compute_long(double seconds) {
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &others);
    int token = 0, rounds = 0, done = 0;
    if (rank == 0) {
        for (const double end = used() + seconds; used() < end;)
            ;
        for (int i = 1; i < ranks; ++i)
            MPI_Send(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
    } else {
        MPI_Request news;
        MPI_Irecv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &news);
        int mine = 0, all = 0;
        for (; !all; ++rounds) { /* all stop after the same round */
            int got = 0;
            MPI_Sendrecv(&rounds, 1, MPI_INT, rank % (ranks - 1), 2, &got, 1, MPI_INT,
                         (rank + ranks - 3) % (ranks - 1), 2, others, MPI_STATUS_IGNORE);
            CHECK(got == rounds);
            if (!mine)
                MPI_Test(&news, &mine, MPI_STATUS_IGNORE);
            MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, others);
        }
        done = 1;
        printf("%d rounds\n", rounds);
    }
    MPI_Comm_free(&others);
    CHECK(done == (rank != 0));
}

/* Two ranks send each other a message: there is always one of them that could go on. Does MPI wait
 * for it, or a loop of the program's own? */
static void send_to_and_fro(int trips, int spins) {
    enum { FEW = 60 }; /* tests; it yields after 16, and some more where that reaches nobody */
    long in_vain = 0;
    begin_wait();
    for (int i = 0; i < 2 * trips; ++i) {
        int got = i, flag = !spins;
        MPI_Request request;
        if (i % 2 == rank) {
            MPI_Send(&got, 1, MPI_INT, !rank, 3, MPI_COMM_WORLD);
        } else if (spins) {
            for (MPI_Irecv(&got, 1, MPI_INT, !rank, 3, MPI_COMM_WORLD, &request); !flag;
                 in_vain += !flag)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&got, 1, MPI_INT, !rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK(got == i);
    }
    end_wait();
    printf("%.1f tests in vain for each message\n", (double)in_vain / trips);
    CHECK(in_vain < (long)FEW * trips);
}

/* A rank gets from the other one, or the other way round, what takes an answer of the one that
 * waits. */
static void get_and_wait(int trips) {
    enum { room = 16 };
    int *memory; /* [0] is got, [4] is summed up, [8] is put: each in 16 bytes of its own
                    (IN_WINDOW) */
    MPI_Win window;
    MPI_Win_allocate(room * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    memory[0] = 100 + rank;
    memory[4] = memory[8] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    begin_wait();
    for (int source = 0; source < ranks; ++source) {
        for (int i = 0; i < trips && rank == (source + 1) % ranks; ++i) {
            int got = -1, sum = -1, one = 1;
            MPI_Request request;
            MPI_Rget(&got, 1, MPI_INT, source, 0, 1, MPI_INT, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(got == 100 + source);
            MPI_Rget_accumulate(&one, 1, MPI_INT, &sum, 1, MPI_INT, source, 4, 1, MPI_INT, MPI_SUM,
                                window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(sum == i);
            MPI_Rput(&sum, 1, MPI_INT, source, 8, 1, MPI_INT, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Win_flush(source, window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end_wait();
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    CHECK(memory[0] == 100 + rank && memory[4] == trips && memory[8] == trips - 1);
    MPI_Win_unlock(rank, window);
    MPI_Win_free(&window);
}

/* The same, for it to come to a barrier. */
static void meet_late(double seconds) {
    begin_wait();
    if (rank == ranks - 1)
        usleep((useconds_t)(seconds * 1e6));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != ranks - 1)
        end_wait();
}

/* The same, in a call that has no non-blocking form. */
static void fence_late(double seconds) {
    IN_WINDOW int memory = -1;
    int value = rank;
    MPI_Win window;
    MPI_Win_create(&memory, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    begin_wait();
    if (rank == ranks - 1)
        usleep((useconds_t)(seconds * 1e6));
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (rank != ranks - 1)
        end_wait();
    CHECK(memory == (rank + ranks - 1) % ranks);
    MPI_Win_fence(0, window); /* others change it below */
    /* Who sleeps in a receive has to answer all the same. */
    if (rank == 0) {
        for (int i = 1; i < ranks; ++i)
            MPI_Recv(&value, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < 20; ++i) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
            MPI_Win_flush(0, window);
            MPI_Win_unlock(0, window);
        }
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    CHECK(value == ranks - 1 + 20 * (ranks * (ranks - 1) / 2));
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        threads();
    } else if (argc > 2 && strcmp(argv[1], "wait") == 0) {
        receive_late(atof(argv[2]));
    } else if (argc > 2 && strcmp(argv[1], "long") == 0) {
        compute_long(atof(argv[2]));
    } else if (argc > 2 && (strcmp(argv[1], "trips") == 0 || strcmp(argv[1], "spins") == 0)) {
        send_to_and_fro(atoi(argv[2]), strcmp(argv[1], "spins") == 0);
    } else if (argc > 2 && strcmp(argv[1], "get") == 0) {
        get_and_wait(atoi(argv[2]));
    } else if (argc > 2 && strcmp(argv[1], "fence") == 0) {
        fence_late(atof(argv[2]));
    } else if (argc > 2 && strcmp(argv[1], "meet") == 0) {
        meet_late(atof(argv[2]));
    } else if (argc > 2 && strcmp(argv[1], "start") == 0) { /* a command, in the midst of a job */
        int worst = 0, code = system(argv[2]);
        code = WIFEXITED(code) ? WEXITSTATUS(code) : 255;
        MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            printf("it ended with %d\n", worst);
    } else if (argc > 1 && strcmp(argv[1], "stop") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            raise(SIGSTOP);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (argc > 1 && (strcmp(argv[1], "kill") == 0 || strcmp(argv[1], "leave") == 0)) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && strcmp(argv[1], "leave") == 0)
            _exit(0); /* without MPI_Finalize: not every launcher ends the job */
        if (rank == 0)
            raise(SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("through\n");
    } else {
        messages(MPI_COMM_WORLD);
        tests_between_work(MPI_COMM_WORLD);
        collectives(MPI_COMM_WORLD);
        long_collectives(MPI_COMM_WORLD);
        communicators();
    }
    MPI_Finalize();
    return 0;
}
