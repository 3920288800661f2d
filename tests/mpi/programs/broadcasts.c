/* SPDX-License-Identifier: Apache-2.0
 * build:
 * test: shape=1x1|2x1|4x2
 * chaos: number=6
 * paired: mpi.{program}.late.{mpi} shape=3x1 labels=mpi,mpi-programs SENNIT_DOORBELLS=on
 *     SENNIT_CHAOS=seed:5,latency:200,order
 * crowd:
 * paired: mpi.broadcasts.uneven_{case}.{mpi}
 *     case=300x200|200x300|300x200xchild|200x300xchild|200x300xmessages|300x200xreduction|200x300xreduction
 *     shape=3x1 timeout=120 SENNIT_DOORBELLS=on
 *     pass='rank . calls {uneven_call} where rank . calls {uneven_call};' -- uneven
 *     {case.split('x')} # one length is too long to be sent without messages
 * simple: out={bin}/broadcasts-no_attributes-{mpi} compile='{mpicc} {c_flags}'
 *     -Wno-stringop-overflow -fopenmp -- -Wl,--no-as-needed {bin}/no_attributes-{mpi}.so
 * once: mpi.broadcasts.no_attributes.{mpi} exe={bin}/broadcasts-no_attributes-{mpi} timeout=120
 *     shape=3x1 SENNIT_DOORBELLS=on board=-a -- nodes {other_node} {exe} nodes
 * Broadcasts, small ones above all: every root, lengths around 256 bytes, datatypes that differ
 * from rank to rank, roots that run ahead, between other collectives and messages, in tasks, with
 * errors; on MPI_COMM_WORLD, and on communicators that are freed at once. usage: broadcasts [nodes
 * | mixed [child | nodes] | uneven FIRST OTHERS [child | messages | reduction]]
 *   nodes   the first half of the ranks is on one node, the other half on another one
 *   mixed   wrong: on MPI_COMM_WORLD, a duplicate, or half of it, one rank does not take part
 *   uneven  wrong: FIRST bytes on rank 0, OTHERS elsewhere; on a duplicate, or before a message, or
 *           in MPI_Allreduce */
#define _DEFAULT_SOURCE
#include "check.h"
#include "small_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, LONG = 1 << 16 };

static char byte_of(int root, int length, int i) {
    return (char)(root * 31 + length * 7 + i);
}

static void lengths_on(MPI_Comm comm) {
    const int lengths[] = {1, 8, 0, 64, 255, 256, 257, 3, 1000, 17, 100000, 2};
    static char data[100001];
    int size, own;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    for (int root = 0; root < size; ++root)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; ++l) {
            const int length = lengths[l];
            for (int i = 0; i < length; ++i)
                data[i] = own == root ? byte_of(root, length, i) : 0;
            data[length] = 'x';
            MPI_Bcast(data, length, MPI_CHAR, root, comm);
            for (int i = 0; i < length; ++i)
                CHECK(data[i] == byte_of(root, length, i));
            CHECK(data[length] == 'x');
        }
}

/* What has the same signature: so many ints. */
enum { SIDE_BY_SIDE, ONE_TYPE, WITH_GAPS, BACKWARDS, AT_ADDRESSES, WAYS };

static void ints_on(MPI_Comm comm, int way, int count, int root, int value) {
    int data[3 * MOST + 1];
    MPI_Aint address;
    MPI_Datatype type = MPI_INT;
    for (int i = 0; i <= 3 * MOST; ++i)
        data[i] = -1;
    int first = 0, step = 1, own;
    MPI_Comm_rank(comm, &own);
    if (way == ONE_TYPE) {
        MPI_Type_contiguous(count, MPI_INT, &type);
    } else if (way == WITH_GAPS) {
        step = 3;
        MPI_Type_vector(count, 1, 3, MPI_INT, &type);
    } else if (way == BACKWARDS) {
        first = count - 1;
        step = -1;
        MPI_Type_create_hvector(count, 1, -(MPI_Aint)sizeof(int), MPI_INT, &type);
    } else if (way == AT_ADDRESSES) {
        const int length = count;
        MPI_Get_address(data, &address);
        MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &type);
    }
    if (way != SIDE_BY_SIDE)
        MPI_Type_commit(&type);
    if (own == root)
        for (int i = 0; i < count; ++i)
            data[first + i * step] = value + i;
    MPI_Bcast(way == AT_ADDRESSES ? MPI_BOTTOM : &data[first], way == SIDE_BY_SIDE ? count : 1,
              type, root, comm);
    for (int i = 0; i < count; ++i) {
        CHECK(data[first + i * step] == value + i);
        if (way == WITH_GAPS)
            CHECK(data[3 * i + 1] == -1 && data[3 * i + 2] == -1);
    }
    CHECK(data[way == WITH_GAPS ? 3 * count : count] == -1);
    if (way != SIDE_BY_SIDE)
        MPI_Type_free(&type);
}

static void types_on(MPI_Comm comm) {
    int size, own;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    for (int round = 0; round < 3 * WAYS; ++round)
        for (int root = 0; root < size; ++root)
            ints_on(comm, (own + round) % WAYS, 1 + (7 * round + root) % MOST, root, round + root);
    /* a pair has a gap in memory, but not in the message */
    struct {
        short value;
        int place;
    } pair = {-1, -1};
    if (own == size - 1) {
        pair.value = 3;
        pair.place = 4;
    }
    MPI_Bcast(&pair, 1, MPI_SHORT_INT, size - 1, comm);
    CHECK(pair.value == 3 && pair.place == 4);
    /* packed at the root, and unpacked by MPI elsewhere */
    char packed[64];
    int end = 0;
    int numbers[3] = {-1, -1, -1};
    if (own == 0) {
        const int in[3] = {5, 6, 7};
        MPI_Pack(in, 3, MPI_INT, packed, sizeof packed, &end, comm);
        MPI_Bcast(packed, end, MPI_PACKED, 0, comm);
    } else {
        MPI_Bcast(numbers, 3, MPI_INT, 0, comm);
        CHECK(numbers[0] == 5 && numbers[1] == 6 && numbers[2] == 7);
    }
}

/* Ranks that are late by many calls, one of them in turn. */
static void ahead_on(MPI_Comm comm, int many) {
    int size, own;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    for (int round = 0; round < 4; ++round) {
        const int root = round % size;
        if (own == (round + 1) % size)
            usleep(3000);
        for (int i = 0; i < many; ++i) {
            long value = own == root ? round * 1000 + i : -1;
            MPI_Bcast(&value, 1, MPI_LONG, root, comm);
            CHECK(value == round * 1000 + i);
        }
        if (round % 2)
            MPI_Barrier(comm);
    }
}

/* Freed while others are still to read; what it was made from, and the next one, are in use. */
static void freed_at_once(void) {
    for (int round = 0; round < 30; ++round) {
        MPI_Comm copy, half;
        int size, own;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        MPI_Comm_size(half, &size);
        MPI_Comm_rank(half, &own);
        for (int i = 0; i < 8 + round % 3; ++i) {
            int value = own == round % size ? i : -1;
            MPI_Bcast(&value, 1, MPI_INT, round % size, half);
            CHECK(value == i);
        }
        MPI_Comm_free(&half);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        for (int i = 0; i < 8; ++i) {
            int value = rank == i % ranks ? i : -1;
            MPI_Bcast(&value, 1, MPI_INT, i % ranks, copy);
            CHECK(value == i);
        }
        MPI_Comm_free(&copy);
    }
}

/* Rank 0 is rung for a long message while it waits in a broadcast. */
static void among_messages(void) {
    static int out[LONG], in[LONG];
    for (int round = 0; round < 5; ++round) {
        MPI_Request requests[2];
        int value = rank == round % ranks ? round : -1;
        for (int i = 0; i < LONG; i += 1024)
            out[i] = rank + round + i;
        MPI_Irecv(in, LONG, MPI_INT, previous(), 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, LONG, MPI_INT, next(), 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Bcast(&value, 1, MPI_INT, round % ranks, MPI_COMM_WORLD);
        CHECK(value == round);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < LONG; i += 1024)
            CHECK(in[i] == previous() + round + i);
        /* the root comes only when the others have answered from within their broadcasts */
        if (rank == 0)
            for (int i = 1; i < ranks; ++i)
                MPI_Ssend(out, LONG, MPI_INT, i, 2, MPI_COMM_WORLD);
        else
            MPI_Irecv(in, LONG, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (rank != 0)
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK(rank == 0 || in[1024] == round + 1024);
    }
}

static bool is_broadcast(MPI_Comm comm, int root, int round) {
    int value = rank == root ? round : -1;
    MPI_Bcast(&value, 1, MPI_INT, root, comm);
    return value == round;
}

/* Other broadcasts that are under way. */
static void among_others(void) {
    for (int round = 0; round < 20; ++round) {
        MPI_Request request;
        const int root = round % ranks;
        int early = rank == root ? round : -1, value = early;
        MPI_Ibcast(&early, 1, MPI_INT, root, MPI_COMM_WORLD, &request);
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(value == round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(early == round);
    }
}

static int told;
static void tell(MPI_Comm *comm, int *error, ...) {
    (void)comm;
    MPI_Error_class(*error, &told);
}

/* A receiver with too little room hears of that, here in pairs of ranks. Open MPI's Ibcast, which
 * is used where ranks outnumber cores and have no shared memory, calls another handler. */
static void too_long(void) {
    MPI_Comm pair;
    MPI_Errhandler handler;
    int data[4] = {1, 2, 3, 4}, size, own;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair);
    MPI_Comm_size(pair, &size);
    MPI_Comm_rank(pair, &own);
    MPI_Comm_create_errhandler(tell, &handler);
    MPI_Comm_set_errhandler(pair, handler);
    if (size == 2) {
        told = MPI_SUCCESS;
        const int error = MPI_Bcast(data, own == 0 ? 4 : 2, MPI_INT, 0, pair);
        if (own == 1) {
            int class = MPI_SUCCESS;
            MPI_Error_class(error, &class);
            CHECK(error != MPI_SUCCESS && class == told);
#ifdef OPEN_MPI /* MPICH says that somebody's collective failed */
            CHECK(class == MPI_ERR_TRUNCATE);
#endif
        } else
            CHECK(error == MPI_SUCCESS);
        MPI_Barrier(pair);
        data[0] = own == 0 ? 7 : -1;
        CHECK(MPI_Bcast(data, 1, MPI_INT, 0, pair) == MPI_SUCCESS && data[0] == 7);
    }
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&pair);
}

/* What MPI refuses it refuses still. Debian's MPICH does not look at arguments. */
static void errors(void) {
    const char *assembled = getenv("SENNIT_NODE_COLLECTIVES");
#ifdef OPEN_MPI
    int data = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Bcast(&data, 1, MPI_INT, ranks, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&data, 1, MPI_INT, -1, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&data, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&data, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#endif
    if (!assembled || strcmp(assembled, "off") != 0)
        too_long();
}

/* Between two groups, where all of one group receive. */
static void between_groups(void) {
    MPI_Comm half, between;
    int value = -1, own;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_rank(half, &own);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &between);
    for (int i = 0; i < 3; ++i) {
        value = rank == 0 ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL, between);
        CHECK(rank % 2 ? value == i : rank == 0 || value == -1);
        int again = own == 0 ? i : -1;
        MPI_Bcast(&again, 1, MPI_INT, 0, half);
        CHECK(again == i);
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

static void all_on(MPI_Comm comm) {
    lengths_on(comm);
    types_on(comm);
    ahead_on(comm, 50);
    for (unsigned seed = 1; seed < 5; ++seed)
        mixture_on(comm, seed);
}

static void mixed(const char *where) {
    int value = 0, size, own;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (where && strcmp(where, "nodes") == 0)
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, 0, &comm);
    else if (where)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &own);
    if (own != size - 1)
        MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    MPI_Barrier(comm);
    CHECK(!"nobody comes here");
}

static int uneven(int count, const char *where) {
    static char data[1000], sum[1000];
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Bcast(data, 1000, MPI_BYTE, 0, comm);
    MPI_Bcast(data, 8, MPI_BYTE, 1, comm);
    if (strcmp(where, "child") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (strcmp(where, "reduction") == 0)
        MPI_Allreduce(data, sum, count, MPI_BYTE, MPI_BOR, comm);
    else
        MPI_Bcast(data, count, MPI_BYTE, 0, comm);
    if (strcmp(where, "messages") == 0 && rank == 0)
        MPI_Recv(data, 1, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
    if (strcmp(where, "messages") == 0 && rank == 1)
        MPI_Send(data, 1, MPI_BYTE, 0, 0, comm);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 3 && strcmp(argv[1], "uneven") == 0)
        return uneven(atoi(argv[rank == 0 ? 2 : 3]), argc > 4 ? argv[4] : "");
    if (argc > 1 && strcmp(argv[1], "mixed") == 0)
        mixed(argc > 2 ? argv[2] : NULL);
    if (argc > 1 && strcmp(argv[1], "nodes") == 0) {
        on_two_nodes(all_on);
        freed_at_once();
        MPI_Finalize();
        return 0;
    }
    on_all_and_half(all_on);
    freed_at_once();
    among_messages();
    among_others();
    in_tasks(is_broadcast);
    errors();
    if (ranks > 1)
        between_groups();
    int last = rank == ranks - 1 ? 5 : -1;
    MPI_Bcast(&last, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return last == 5 ? 0 : 1;
}
