/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|4x2
 * chaos: number=5
 * paired: mpi.assembled.bare.mpich.n3 mpi=mpich shape=3x1 SENNIT_DOORBELLS=off # its ranks do not
 *     yield: six of them on two cores take most of a minute, and show no more
 * paired: mpi.assembled.bare.openmpi.n{ranks} mpi=openmpi shape=3x1|6x1 SENNIT_DOORBELLS=off
 * paired: mpi.assembled.together.{mpi}.n{ranks}t{threads} shape=2x2|4x1|6x1|3x2
 *     labels=mpi,mpi-programs SENNIT_DOORBELLS=on
 * paired: mpi.{program}.late.{mpi} shape=3x1 labels=mpi,mpi-programs SENNIT_DOORBELLS=on
 *     SENNIT_CHAOS=seed:5,latency:200,order
 * paired: mpi.assembled.nodes.{mpi} shape=3x1 SENNIT_DOORBELLS=on -- nodes {other_node} {exe}
 *     nodes # half of the ranks is on another node, as far as they know
 * paired: mpi.assembled.mixed.{mpi} shape=3x1 SENNIT_DOORBELLS=on
 *     pass='{mixed_on} MPI_COMM_WORLD {mixed_calls}' -- mixed
 * paired: mpi.assembled.mixed_child.{mpi} shape=3x1 SENNIT_DOORBELLS=on
 *     pass='{mixed_on} a communicator made from MPI_COMM_WORLD {mixed_calls}' -- mixed child
 * paired: mpi.assembled.mixed_nodes.{mpi} shape=3x1 SENNIT_DOORBELLS=on
 *     pass='{mixed_on} a communicator made from MPI_COMM_WORLD {mixed_calls}' -- mixed nodes
 *     {other_node} {exe} mixed nodes
 * paired: mpi.assembled.gone.{mpi} shape=3x1 SENNIT_DOORBELLS=on pass={gone} fail='{gone_twice}'
 *     -- gone # several ranks find at once that another one is gone: one of them says so, and ends
 *     the job
 * paired: mpi.assembled.gone_apart.{mpi} shape=3x1 SENNIT_DOORBELLS=on pass={gone}
 *     fail='{gone_twice}' -- gone apart
 * Small collective calls on MPI_COMM_WORLD: every operation with every datatype, in place, around
 * 256 bytes, between messages and other collectives, in tasks, with errors, and right before the
 * end. The order of sums is that of bare MPI, also where they are made in shared memory. The same
 * on communicators made from it, of which there may be more than there is room for. usage:
 * assembled [nodes | mixed [child | nodes] | gone [apart]]
 *   nodes   the first half of the ranks is on one node, the other half on another one
 *   mixed   wrong: the ranks make different calls on MPI_COMM_WORLD, a duplicate, or half of it
 *   gone    wrong: the last rank becomes another program, and the others wait for it; apart: each
 * on a communicator of its own with it */
#include "check.h"
#include "small_calls.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, LONG = 1 << 20 };

typedef struct {
    MPI_Op op;
    unsigned kinds;
} Operation;
typedef struct {
    MPI_Datatype type;
    unsigned kind;
} Type;
enum {
    INTEGER = 1,
    FORTRAN = 2,
    REAL = 4,
    LOGICAL = 8,
    COMPLEX = 16,
    BYTE = 32,
    ADDRESS = 64,
    PAIR = 128
};

/* Ten of its bytes count. */
static bool is_padded(MPI_Datatype type) {
    return type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX ||
           type == MPI_LONG_DOUBLE_INT;
}

/* Numbers that are exact in any order. 1.0 and 2.0 differ in high bytes alone. */
static void write_number(char *at, Type of, int value) {
    if (of.kind == LOGICAL)
        at[0] = (char)(value - 1);
    else if (of.kind != REAL && of.kind != COMPLEX && of.kind != PAIR)
        at[0] = (char)value;
    else if (of.type == MPI_FLOAT || of.type == MPI_REAL || of.type == MPI_REAL4 ||
             of.type == MPI_C_FLOAT_COMPLEX || of.type == MPI_COMPLEX || of.type == MPI_FLOAT_INT ||
             of.type == MPI_2REAL)
        memcpy(at, &(float){(float)value}, sizeof(float));
    else if (is_padded(of.type))
        memcpy(at, &(long double){value}, 10);
    else if (of.type == MPI_SHORT_INT || of.type == MPI_2INT || of.type == MPI_LONG_INT ||
             of.type == MPI_2INTEGER)
        at[0] = (char)value;
    else
        memcpy(at, &(double){value}, sizeof(double));
}

static void check_same(Type of, const char *out, const char *expected, int count) {
    char packed[2][5 * 32];
    int length[2] = {0, 0};
    MPI_Pack(out, count, of.type, packed[0], sizeof packed[0], &length[0], MPI_COMM_WORLD);
    MPI_Pack(expected, count, of.type, packed[1], sizeof packed[1], &length[1], MPI_COMM_WORLD);
    CHECK(length[0] == length[1] &&
          memcmp(packed[0], packed[1], is_padded(of.type) ? 10 : (size_t)length[0]) == 0);
}

/* In shared memory, and the same by messages. */
static void one_reduction(Type of, MPI_Op op, int count) {
    _Alignas(16) char in[5 * 32] = {0}, out[5 * 32] = {0}, expected[5 * 32] = {0};
    MPI_Aint least, extent;
    MPI_Type_get_extent(of.type, &least, &extent);
    CHECK(extent <= 32);
    for (int i = 0; i < count; ++i)
        write_number(in + i * extent, of, 1 + (rank + i) % 2);
    if (count == 3) {
        memcpy(out, in, sizeof out);
        MPI_Allreduce(MPI_IN_PLACE, out, count, of.type, op, MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(in, out, count, of.type, op, MPI_COMM_WORLD);
    }
    MPI_Request request; /* of a call that is MPI's own */
    MPI_Iallreduce(in, expected, count, of.type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_same(of, out, expected, count);
    const int root = count % ranks; /* who gets the same, and nobody else */
    memcpy(out, in, sizeof out);
    MPI_Reduce(count == 3 && rank == root ? MPI_IN_PLACE : in, out, count, of.type, op, root,
               MPI_COMM_WORLD);
    check_same(of, out, rank == root ? expected : in, count);
}

/* What the standard allows with each other (MPI 4.0, section 6.9.2). */
static void reductions(void) {
    const unsigned numbers = INTEGER | FORTRAN | REAL | ADDRESS,
                   bits = INTEGER | FORTRAN | BYTE | ADDRESS;
    const Operation operations[] = {{MPI_SUM, numbers | COMPLEX},
                                    {MPI_PROD, numbers | COMPLEX},
                                    {MPI_MAX, numbers},
                                    {MPI_MIN, numbers},
                                    {MPI_LAND, INTEGER | LOGICAL},
                                    {MPI_LOR, INTEGER | LOGICAL},
                                    {MPI_LXOR, INTEGER | LOGICAL},
                                    {MPI_BAND, bits},
                                    {MPI_BOR, bits},
                                    {MPI_BXOR, bits},
                                    {MPI_MAXLOC, PAIR},
                                    {MPI_MINLOC, PAIR}};
    const Type types[] = {{MPI_DOUBLE, REAL},
                          {MPI_FLOAT, REAL},
                          {MPI_LONG_DOUBLE, REAL},
                          {MPI_DOUBLE_PRECISION, REAL},
                          {MPI_REAL, REAL},
                          {MPI_REAL4, REAL},
                          {MPI_REAL8, REAL},
                          {MPI_INT, INTEGER},
                          {MPI_LONG, INTEGER},
                          {MPI_LONG_LONG, INTEGER},
                          {MPI_SHORT, INTEGER},
                          {MPI_SIGNED_CHAR, INTEGER},
                          {MPI_UNSIGNED, INTEGER},
                          {MPI_UNSIGNED_LONG, INTEGER},
                          {MPI_UNSIGNED_LONG_LONG, INTEGER},
                          {MPI_UNSIGNED_SHORT, INTEGER},
                          {MPI_UNSIGNED_CHAR, INTEGER},
                          {MPI_INT8_T, INTEGER},
                          {MPI_INT16_T, INTEGER},
                          {MPI_INT32_T, INTEGER},
                          {MPI_INT64_T, INTEGER},
                          {MPI_UINT8_T, INTEGER},
                          {MPI_UINT16_T, INTEGER},
                          {MPI_UINT32_T, INTEGER},
                          {MPI_UINT64_T, INTEGER},
                          {MPI_INTEGER, FORTRAN},
                          {MPI_INTEGER1, FORTRAN},
                          {MPI_INTEGER2, FORTRAN},
                          {MPI_INTEGER4, FORTRAN},
                          {MPI_INTEGER8, FORTRAN},
                          {MPI_C_BOOL, LOGICAL},
                          {MPI_LOGICAL, LOGICAL},
                          {MPI_BYTE, BYTE},
                          {MPI_AINT, ADDRESS},
                          {MPI_OFFSET, ADDRESS},
                          {MPI_COUNT, ADDRESS},
                          {MPI_C_FLOAT_COMPLEX, COMPLEX},
                          {MPI_C_DOUBLE_COMPLEX, COMPLEX},
                          {MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX},
                          {MPI_COMPLEX, COMPLEX},
                          {MPI_DOUBLE_COMPLEX, COMPLEX},
                          {MPI_FLOAT_INT, PAIR},
                          {MPI_DOUBLE_INT, PAIR},
                          {MPI_LONG_INT, PAIR},
                          {MPI_2INT, PAIR},
                          {MPI_SHORT_INT, PAIR},
                          {MPI_LONG_DOUBLE_INT, PAIR},
                          {MPI_2REAL, PAIR},
                          {MPI_2DOUBLE_PRECISION, PAIR},
                          {MPI_2INTEGER, PAIR}};
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t)
        for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o)
            if (types[t].type != MPI_DATATYPE_NULL && (operations[o].kinds & types[t].kind))
                for (int count = 1; count <= 5; count += 2)
                    one_reduction(types[t], operations[o].op, count);
}

static void lengths(void) {
    for (int count = 0; count <= MOST; ++count) {
        double in[MOST], out[MOST];
        for (int i = 0; i < count; ++i) {
            in[i] = rank + i;
            out[i] = -1;
        }
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; ++i)
            CHECK(out[i] == ranks * (ranks - 1) / 2 + ranks * i);
        if (count % 3 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Numbers of which any other order gives another sum. */
static double number(int member, int i) {
    const double numbers[] = {1e16, 1, -1e16, 1, 3, 1e16, -1e16, 7};
    return numbers[(member + i) % 8];
}

/* By recursive doubling: first in pairs those beyond a power of two, then neighbours, and so on. */
static double sum_of(const int *members, int size, int i) {
    double parts[MOST];
    int count = 1;
    while (2 * count <= size)
        count *= 2;
    const int beyond = size - count;
    for (int member = 0; member < size; ++member)
        if (member >= 2 * beyond)
            parts[member - beyond] = number(members[member], i);
        else if (member % 2 == 1)
            parts[member / 2] = number(members[member - 1], i) + number(members[member], i);
    for (int distance = 1; distance < count; distance *= 2)
        for (int part = 0; part < count; part += 2 * distance)
            parts[part] += parts[part + distance];
    return parts[0];
}

static void order_on(MPI_Comm comm, const int *members, int size) {
    double in[MOST], out[MOST];
    CHECK(size <= MOST);
    for (int count = 1; count <= 32; count += 1 + (comm != MPI_COMM_WORLD) * 10) {
        for (int i = 0; i < count; ++i)
            in[i] = number(rank, i);
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < count; ++i)
            CHECK(out[i] == sum_of(members, size, i));
    }
}

static void order(void) {
    int members[MOST];
    CHECK(ranks <= MOST);
    for (int member = 0; member < ranks; ++member)
        members[member] = member;
    order_on(MPI_COMM_WORLD, members, ranks);
}

/* The sum of all ranks of a communicator, between barriers. */
static void sum_on(MPI_Comm comm, int expected) {
    int sum = -1;
    MPI_Barrier(comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == expected);
    MPI_Barrier(comm);
}

/* Of half of the ranks, the last one first; of all but one; of others; of one. */
static void on_communicators(int in_order) {
    for (int round = 0; round < 10; ++round) {
        int members[MOST], size = 0, half_sum = 0;
        for (int member = ranks - 1; member >= 0; --member)
            if (member % 2 == rank % 2) {
                members[size++] = member;
                half_sum += member;
            }
        MPI_Comm half, copy, others, own;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        MPI_Comm_dup(half, &copy);
        if (in_order) {
            order_on(half, members, size);
            order_on(copy, members, size);
        }
        sum_on(copy, half_sum);
        MPI_Comm_split(MPI_COMM_WORLD, rank == round % ranks ? MPI_UNDEFINED : 7, 0, &others);
        if (rank != round % ranks)
            sum_on(others, ranks * (ranks - 1) / 2 - round % ranks);
        sum_on(half, half_sum);
        MPI_Comm_free(&half);
        MPI_Comm_split(copy, rank, 0, &own);
        sum_on(own, rank);
        sum_on(MPI_COMM_WORLD, ranks * (ranks - 1) / 2);
        sum_on(copy, half_sum);
        if (others != MPI_COMM_NULL)
            MPI_Comm_free(&others);
        MPI_Comm_free(&own);
        MPI_Comm_free(&copy);
    }
}

/* Where some have no room. Only a part of the ranks has made many before. */
static void many_communicators(void) {
    enum { MANY = 7, FEW = 2 };
    for (int round = 0; round < 5; ++round) {
        MPI_Comm many[MANY], few[FEW] = {MPI_COMM_NULL, MPI_COMM_NULL}, part;
        MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &part);
        if (rank < 2)
            for (int i = 0; i < FEW; ++i)
                MPI_Comm_dup(part, &few[i]);
        for (int i = 0; i < MANY; ++i) {
            MPI_Comm_dup(i % 2 && i > 2 ? many[i - 1] : MPI_COMM_WORLD, &many[i]);
            sum_on(many[i], ranks * (ranks - 1) / 2);
        }
        if (rank < 2)
            for (int i = 0; i < FEW; ++i) {
                sum_on(few[i], ranks > 1);
                MPI_Comm_free(&few[i]);
            }
        for (int i = 0; i < MANY; ++i) {
            const int which = (i * 3 + round) % MANY;
            sum_on(many[which], ranks * (ranks - 1) / 2);
            MPI_Comm_free(&many[which]);
        }
        sum_on(MPI_COMM_WORLD, ranks * (ranks - 1) / 2);
        MPI_Comm_free(&part);
    }
}

/* Communicators of one node in a job on two, beside others that reach both. */
static void on_nodes(void) {
    const int first = rank < ranks / 2 ? 0 : ranks / 2, end = first == 0 ? ranks / 2 : ranks;
    int node_sum = 0;
    for (int member = first; member < end; ++member)
        node_sum += member;
    for (int round = 0; round < 20; ++round) {
        MPI_Comm node, copy, across, all, part;
        MPI_Comm_split(MPI_COMM_WORLD, first, -rank, &node);
        MPI_Comm_split(MPI_COMM_WORLD, rank - first, 0, &across);
        MPI_Comm_dup(node, &copy);
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        sum_on(node, node_sum);
        sum_on(across, 2 * (rank - first) + ranks / 2);
        sum_on(copy, node_sum);
        sum_on(all, ranks * (ranks - 1) / 2);
        MPI_Comm_split(copy, rank == first + round % 2 ? MPI_UNDEFINED : 1, 0, &part);
        if (part != MPI_COMM_NULL) {
            sum_on(part, node_sum - (first + round % 2));
            MPI_Comm_free(&part);
        }
        sum_on(MPI_COMM_WORLD, ranks * (ranks - 1) / 2);
        MPI_Comm_free(&node);
        sum_on(copy, node_sum);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&all);
        MPI_Comm_free(&across);
    }
}

/* Long messages that only go on while their ranks look; others that are received late. */
static void among_messages(void) {
    static int out[LONG], in[LONG];
    for (int round = 0; round < 5; ++round) {
        MPI_Request requests[2];
        int sum = -1, early = -1;
        for (int i = 0; i < LONG; i += 4096)
            out[i] = rank + round + i;
        MPI_Irecv(in, LONG, MPI_INT, previous(), 1, MPI_COMM_WORLD, &requests[0]);
        if (round % 2)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(out, LONG, MPI_INT, next(), 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == ranks * (ranks - 1) / 2);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < LONG; i += 4096)
            CHECK(in[i] == previous() + round + i);
        /* rank 0 can go on only if the others answer from within their barrier */
        if (rank == 0)
            for (int i = 1; i < ranks; ++i)
                MPI_Ssend(out, LONG, MPI_INT, i, 2, MPI_COMM_WORLD);
        else
            MPI_Irecv(in, LONG, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != 0)
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK(rank == 0 || in[4096] == round + 4096);
        MPI_Sendrecv(&rank, 1, MPI_INT, next(), 3, &early, 1, MPI_INT, previous(), 3,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(early == previous());
    }
}

/* Other collectives on MPI_COMM_WORLD, some of them under way, and those that start again. */
static void among_collectives(void) {
    for (int round = 0; round < 20; ++round) {
        MPI_Request requests[2];
        int value = rank == round % ranks ? round : -1, most = -1, least = -1, all[MOST];
        CHECK(ranks <= MOST);
        MPI_Iallreduce(&rank, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[0]);
        MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        CHECK(least == 0);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(&value, 1, MPI_INT, round % ranks, MPI_COMM_WORLD);
        CHECK(value == round);
        MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
        CHECK(all[ranks - 1] == ranks - 1);
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(value == round * ranks);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(most == ranks - 1);
    }
#if MPI_VERSION >= 4
    int sum = 0, plain = 0;
    MPI_Request again;
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &again);
    for (int round = 0; round < 5; ++round) {
        MPI_Start(&again);
        MPI_Allreduce(&rank, &plain, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
        CHECK(sum == plain && sum == ranks * (ranks - 1) / 2);
    }
    MPI_Request_free(&again);
#endif
}

static bool sums_up(MPI_Comm comm, int root, int round) {
    int sum = -1;
    (void)root, (void)round;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum == ranks * (ranks - 1) / 2;
}

/* What MPI refuses it refuses still. Debian's MPICH does not look at arguments. */
static void errors(void) {
    double in = 1, out = 0;
#ifdef OPEN_MPI
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Allreduce(&in, &out, -1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Allreduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#endif
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(out == ranks);
}

static void wait_for_one_that_is_gone(int own, int last, bool apart) {
    MPI_Comm with_it = MPI_COMM_WORLD;
    for (int rank = 0; apart && rank < last; ++rank) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, own == rank || own == last ? 0 : MPI_UNDEFINED, 0, &comm);
        if (own == rank)
            with_it = comm;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (own == last)
        execlp("sleep", "sleep", "1000", NULL);
    MPI_Barrier(with_it);
    CHECK(!"nobody comes here");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "nodes") == 0) {
        on_nodes();
        MPI_Finalize();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "mixed") == 0) {
        int in = 1, out = 0, size, own;
        MPI_Comm comm = MPI_COMM_WORLD;
        if (argc > 2 && strcmp(argv[2], "nodes") == 0)
            MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, 0, &comm);
        else if (argc > 2)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_size(comm, &size);
        MPI_Comm_rank(comm, &own);
        if (own == size - 1)
            MPI_Barrier(comm);
        else
            MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
        CHECK(!"nobody comes here");
    }
    if (argc > 1 && strcmp(argv[1], "gone") == 0)
        wait_for_one_that_is_gone(rank, ranks - 1, argc > 2);
    const char *assembled = getenv("SENNIT_NODE_COLLECTIVES");
    const int in_order = !assembled || strcmp(assembled, "off") != 0;
    if (in_order)
        order();
    reductions();
    lengths();
    among_messages();
    among_collectives();
    in_tasks(sums_up);
    errors();
    on_communicators(in_order);
    many_communicators();
    double sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == ranks ? 0 : 1;
}
