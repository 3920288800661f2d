/* SPDX-License-Identifier: Apache-2.0
 * test: shape=1x1|2x1|4x2
 * chaos: number=7
 * paired: mpi.{program}.late.{mpi} shape=3x1 labels=mpi,mpi-programs SENNIT_DOORBELLS=on
 *     SENNIT_CHAOS=seed:5,latency:200,order
 * crowd:
 * Reductions whose result one rank gets, small ones above all: every root, lengths around 256
 * bytes, in place, ranks that run ahead of the root, between other collectives and messages, in
 * tasks, with errors; on MPI_COMM_WORLD, and on communicators that are freed before the root has
 * come. The order of sums is that of a binomial tree, as MPICH's. usage: reductions [nodes | mixed
 * [child]]
 *   nodes   the first half of the ranks is on one node, the other half on another one
 *   mixed   wrong: on MPI_COMM_WORLD, or on a duplicate, one rank does not take part */
#define _DEFAULT_SOURCE
#include "check.h"
#include "small_calls.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 40, LONG = 1 << 16 };

static int sum_of_ranks(int size) {
    return size * (size - 1) / 2;
}

/* Every other root gets the sum in place: a short one, for of 1000 ints Debian's MPICH 4.0 crashes.
 */
static void sum_to(MPI_Comm comm, int root, int count, int value) {
    static int in[LONG], out[LONG + 1];
    int size, own;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    const bool in_place = own == root && root % 2 == 1 && count < 100;
    for (int i = 0; i <= count; ++i) {
        in[i] = value + own + i;
        out[i] = in_place && i < count ? in[i] : -1;
    }
    MPI_Reduce(in_place ? MPI_IN_PLACE : in, own == root ? out : NULL, count, MPI_INT, MPI_SUM,
               root, comm);
    for (int i = 0; i < count; ++i)
        CHECK(out[i] == (own == root ? size * (value + i) + sum_of_ranks(size) : -1));
    CHECK(out[count] == -1);
}

static void lengths_on(MPI_Comm comm) {
    const int lengths[] = {1, 2, 0, 16, 63, 64, 65, 3, 64, 1, 17, 60, 1000, 4, LONG - 1, 2};
    int size;
    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; ++root)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; ++l)
            sum_to(comm, root, lengths[l], root);
}

/* Numbers of which any other order gives another sum. */
static double number(int member, int i) {
    const double numbers[] = {1e16, 1, -1e16, 1, 3, 1e16, -1e16, 7};
    return numbers[(member * (i + 1) + i) % 8];
}

/* Open MPI's own order is another one for each length and number of ranks. */
static bool has_order(void) {
#ifdef OPEN_MPI
    const char *doorbells = getenv("SENNIT_DOORBELLS");
    const char *assembled = getenv("SENNIT_NODE_COLLECTIVES");
    return doorbells && strcmp(doorbells, "on") == 0 &&
           (!assembled || strcmp(assembled, "off") != 0);
#else
    return true;
#endif
}

static void order_on(MPI_Comm comm) {
    double in[32], out[32];
    int size, own;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    CHECK(size <= MOST);
    for (int count = 1; count <= 32; count += 5)
        for (int root = 0; root < size; ++root) {
            for (int i = 0; i < count; ++i)
                in[i] = number(own, i);
            MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, comm);
            for (int i = 0; i < count && own == root; ++i) {
                double parts[MOST];
                for (int member = 0; member < size; ++member)
                    parts[member] = number((root + member) % size, i);
                for (int distance = 1; distance < size; distance *= 2)
                    for (int part = 0; part + distance < size; part += 2 * distance)
                        parts[part] += parts[part + distance];
                CHECK(out[i] == parts[0]);
            }
        }
}

/* Ranks that are late by many calls, one of them in turn; mostly it is the root. */
static void ahead_on(MPI_Comm comm, int many) {
    int size, own;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    for (int round = 0; round < 6; ++round) {
        const int root = round % size;
        if (own == (round < 4 ? root : (root + 1) % size))
            usleep(3000);
        for (int i = 0; i < many; ++i)
            sum_to(comm, root, round % 2 ? 1 : 1 + i * 5 % 64, round * 1000 + i);
        if (round % 2)
            MPI_Barrier(comm);
    }
}

/* The others free it, and use the room for the next ones, while the root is still to come. Some of
 * these are without that root. */
static void freed_at_once(void) {
    for (int round = 0; round < 30; ++round) {
        MPI_Comm pair, half;
        int own;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair);
        MPI_Comm_rank(pair, &own);
        if (own == 0 && round % 3 == 0)
            usleep(1000);
        for (int i = 0; i < 7 + round % 3; ++i)
            sum_to(pair, 0, 1 + round, i);
        MPI_Comm_free(&pair);
        for (int i = 0; i < 2; ++i) {
            MPI_Comm copy;
            MPI_Comm_dup(half, &copy);
            sum_to(copy, 0, 64, round);
            MPI_Comm_free(&copy);
        }
        MPI_Comm_free(&half);
    }
}

/* The root takes long messages while it waits in a reduction. */
static void among_messages(void) {
    static int out[LONG], in[MOST][LONG];
    CHECK(ranks <= MOST);
    for (int round = 0; round < 5; ++round) {
        MPI_Request requests[MOST + 1];
        const int root = round % ranks;
        for (int i = 0; i < LONG; i += 1024)
            out[i] = rank + round + i;
        for (int i = 0; i < ranks && rank == root; ++i)
            MPI_Irecv(in[i], LONG, MPI_INT, i, 1, MPI_COMM_WORLD, &requests[i]);
        if (rank == root)
            MPI_Isend(out, LONG, MPI_INT, root, 1, MPI_COMM_WORLD, &requests[ranks]);
        else
            MPI_Ssend(out, LONG, MPI_INT, root, 1, MPI_COMM_WORLD);
        sum_to(MPI_COMM_WORLD, root, 1, round);
        if (rank == root)
            MPI_Waitall(ranks + 1, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < ranks && rank == root; ++i)
            CHECK(in[i][1024] == i + round + 1024);
    }
}

static bool is_reduced(MPI_Comm comm, int root, int round) {
    const int mine = rank + round;
    int sum = -1;
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, comm);
    return sum == (rank == root ? ranks * round + sum_of_ranks(ranks) : -1);
}

/* Of the first rank. */
static void first(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; ++i)
        ((int *)inout)[i] = ((int *)in)[i];
}

/* Those of MPI: operations of the program, and reductions that are under way. */
static void others(void) {
    MPI_Op op;
    MPI_Op_create(first, 0, &op);
    for (int root = 0; root < ranks; ++root) {
        int early = -1, late = -1;
        MPI_Request request;
        MPI_Ireduce(&rank, &early, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD, &request);
        MPI_Reduce(&rank, &late, 1, MPI_INT, op, root, MPI_COMM_WORLD);
        CHECK(rank != root || late == 0);
        MPI_Reduce(&rank, &late, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        CHECK(rank != root || late == sum_of_ranks(ranks));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(rank != root || early == ranks - 1);
    }
    MPI_Op_free(&op);
}

/* What MPI refuses it refuses still. Debian's MPICH does not look at arguments. */
static void errors(void) {
#ifdef OPEN_MPI
    int in = 0, out = 0;
    const MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, ranks, comm) != MPI_SUCCESS);
    CHECK(MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, -1, comm) != MPI_SUCCESS);
    CHECK(MPI_Reduce(&in, &out, -1, MPI_INT, MPI_SUM, 0, comm) != MPI_SUCCESS);
    CHECK(MPI_Reduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm) != MPI_SUCCESS);
    CHECK(MPI_Reduce(&in, &out, 1, MPI_INT, MPI_OP_NULL, 0, comm) != MPI_SUCCESS);
    CHECK(MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_BAND, 0, comm) != MPI_SUCCESS);
    CHECK(MPI_Reduce(rank == 0 ? &in : MPI_IN_PLACE, rank == 0 ? MPI_IN_PLACE : &out, 1, MPI_INT,
                     MPI_SUM, 0, comm) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
#endif
}

/* Between two groups, where one rank of one group gets the sum of the other group. */
static void between_groups(void) {
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &between);
    for (int i = 0; i < 3; ++i) {
        int sum = -1;
        MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM,
                   rank == 0       ? MPI_ROOT
                   : rank % 2 == 1 ? 0
                                   : MPI_PROC_NULL,
                   between);
        CHECK(sum == (rank == 0 ? i * (ranks / 2) : -1));
        sum_to(half, 0, 1, i);
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void all_on(MPI_Comm comm) {
    lengths_on(comm);
    ahead_on(comm, 50);
    for (unsigned seed = 1; seed < 5; ++seed)
        mixture_on(comm, seed);
}

static void mixed(const char *where) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (where)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int sum = 0;
    if (rank != ranks - 1)
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
    MPI_Barrier(comm);
    MPI_Barrier(comm);
    CHECK(!"nobody comes here");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "mixed") == 0)
        mixed(argc > 2 ? argv[2] : NULL);
    if (strcmp(what, "nodes") == 0) {
        on_two_nodes(all_on);
        freed_at_once();
        MPI_Finalize();
        return 0;
    }
    on_all_and_half(all_on);
    if (has_order())
        on_all_and_half(order_on);
    freed_at_once();
    among_messages();
    in_tasks(is_reduced);
    others();
    errors();
    if (ranks > 1)
        between_groups();
    const int mine = rank;
    int sum = -1;
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return rank != ranks - 1 || sum == sum_of_ranks(ranks) ? 0 : 1;
}
