/* SPDX-License-Identifier: Apache-2.0
 * build_once: if=rank_fibers -fPIE -pie -fopenmp
 * once: mpi.prompt_sends.{mpi}.n{ranks} ranks=2|4 labels=mpi,virtual pass='^prompt\n$'
 *     run='{sennit} run --virtual=fibers --mpi {mpi} -n {ranks} --threads 1 {exe}'
 * One rank sends messages one after the other to a rank that waits for each. Many a send is over
 * only when the receiver has taken the message: long ones, synchronous ones, and more, by the MPI
 * library. Then the sender sleeps meanwhile, and has to be rung, however the receiver takes the
 * message. If nobody rings, each message takes the nap of a timer. The same holds for the ranks of
 * a collective call, which sends by itself, for one that waits for the rest of a buffered message
 * (its sender is somewhere else by then), and for the target of accesses to a window.
 *
 * A busy machine may disturb some batches of messages, but not all of them: the best batch counts,
 * and as soon as one is fast no more are sent.
 */
#include "check.h"

#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { most_ranks = 4, longest = 100000, messages = 20, batches = 1000 };
/* Seconds a message. The shortest nap is 1 ms; MPI_Reduce of the longest computes for 0.2 ms. */
static const double most = 0.5e-3;
static const double limit = 30.0; /* seconds, for one length */

static char buffer[longest], gathered[most_ranks * longest];
static char copies[2 * messages * (longest + MPI_BSEND_OVERHEAD)]; /* of two batches */

static void receive(int length) {
    MPI_Recv(buffer, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void receive_any(int length) {
    MPI_Recv(buffer, length, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void receive_probed(int length) {
    MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive(length);
}
static void receive_matched(int length) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(buffer, length, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}
static void receive_by_tests(int length) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    for (int over = 0; !over;)
        MPI_Test(&request, &over, MPI_STATUS_IGNORE);
}

static void send(int length) {
    MPI_Send(buffer, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
}
static void send_synchronously(int length) {
    MPI_Ssend(buffer, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
}
static void send_buffered(int length) {
    MPI_Bsend(buffer, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
}
static void do_nothing(int length) {
    (void)length;
}
static void gather(int length) {
    MPI_Gather(buffer, length, MPI_CHAR, gathered, length, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static void reduce(int length) {
    MPI_Reduce(buffer, gathered, length, MPI_CHAR, MPI_BOR, 0, MPI_COMM_WORLD);
}
static void
duplicate(int length) { /* several rounds of messages, and nobody waits after the last */
    MPI_Comm made = MPI_COMM_NULL;
    (void)length;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
}

/* The sender's access to the receiver's window. */
static MPI_Win window;
static MPI_Group partner;
static char exposed[longest];
static void make_window(int rank) {
    const int other = 1 - rank;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, rank < 2, &other, &partner);
    MPI_Group_free(&all);
    MPI_Win_create(exposed, sizeof exposed, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}
static void free_window(void) {
    MPI_Win_free(&window);
    MPI_Group_free(&partner);
}
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
static void compute(double seconds) {
    for (const double begin = now(); now() - begin < seconds;) {
    }
}
/* Seconds for which the target slept on. The sender calls MPI again only later. */
static double late;
static void put(int length) {
    compute(0.3e-3); /* meanwhile the target goes to sleep */
    MPI_Win_start(partner, 0, window);
    MPI_Put(buffer, length, MPI_CHAR, 1, 0, length, MPI_CHAR, window);
    MPI_Win_complete(window);
    const double done = now();
    compute(1.5e-3);
    MPI_Send(&done, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
}
static void expose(int length) {
    double done = 0;
    (void)length;
    MPI_Win_post(partner, 0, window);
    MPI_Win_wait(window);
    late += now();
    MPI_Recv(&done, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    late -= done;
}

static const struct {
    const char *name;
    void (*first)(int length); /* what rank 0 does, rank 1, and all others */
    void (*second)(int length);
    void (*others)(int length);
} kinds[] = {
    {"MPI_Recv", send, receive, do_nothing},
    {"any source", send, receive_any, do_nothing},
    {"MPI_Probe", send, receive_probed, do_nothing},
    {"MPI_Mprobe", send, receive_matched, do_nothing},
    {"MPI_Test", send, receive_by_tests, do_nothing},
    {"MPI_Ssend", send_synchronously, receive, do_nothing},
    {"MPI_Ssend and MPI_Probe", send_synchronously, receive_probed, do_nothing},
    {"MPI_Ssend and MPI_Test", send_synchronously, receive_by_tests, do_nothing},
    {"MPI_Bsend", send_buffered, receive, do_nothing},
    {"MPI_Win_wait", put, expose, do_nothing},
    {"MPI_Gather", gather, gather, gather},
    {"MPI_Reduce", reduce, reduce, reduce},
    {"MPI_Comm_dup", duplicate, duplicate, duplicate},
};

/* Seconds a message. */
static double batch(int rank, size_t kind, int length) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    late = 0;
    for (int i = 0; i < messages; ++i) {
        if (rank == 0)
            kinds[kind].first(length);
        else if (rank == 1)
            kinds[kind].second(length);
        else
            kinds[kind].others(length);
    }
    double took = kinds[kind].second == expose ? late : MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return took / messages;
}

static void check(int rank, size_t kind, int length) {
    double best = limit, all = 0;
    for (int done = 0; done < batches && all < limit && best > most; ++done) {
        const double took = batch(rank, kind, length);
        best = took < best ? took : best;
        all += took * messages;
    }
    if (rank == 0 && best > most)
        fprintf(stderr, "%s, %d bytes: %.0f us a message\n", kinds[kind].name, length, best * 1e6);
    CHECK(best <= most);
}

int main(int argc, char **argv) {
    static const int lengths[] = {0, 8, 257, 1000, 2048, 4000, 8000, 17500, 75000, longest};
    int rank = 0, ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(ranks <= most_ranks);
    MPI_Buffer_attach(copies, sizeof copies);
    make_window(rank);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i)
            check(rank, kind, lengths[i]);
    free_window();
    int size = 0;
    void *attached = NULL;
    MPI_Buffer_detach(&attached, &size);
    if (rank == 0)
        printf("prompt\n");
    MPI_Finalize();
    return 0;
}
