/* SPDX-License-Identifier: Apache-2.0
 * build_once: -Wno-stringop-overflow -Wno-stringop-overread -fopenmp
 * Collective calls with an argument that is wrong on all ranks. For each call and each argument
 * rank 0 prints what all ranks have got: the class of the error, and how often the error handler of
 * the communicator and that of MPI_COMM_WORLD were called. It is to be the same as without Sennit
 * (wrong_arguments.py).
 *
 * usage: wrong_arguments return|handler|jump|tasks checked|alone FILE [call argument]...
 * tasks: MPI_ERRORS_RETURN, and the calls are made in tasks. checked: after each call the ranks
 * make right ones on the same communicator. FILE: where rank 0 prints, for a launcher may break
 * lines (Open MPI 5's did once, at byte 4096). call argument: leave these out. */
#include "check.h"

#include <setjmp.h>
#include <string.h>

enum { MOST = 8, BIG = 100 };

enum wrong {
    NULL_COMM,
    NEGATIVE_COUNT,
    NULL_TYPE,
    UNCOMMITTED,
    NULL_OP,
    WRONG_OP,
    NEGATIVE_ROOT,
    BIG_ROOT,
    SAME_BUFFER,
    RECEIVED_IN_PLACE,
    OTHER, /* what only this call has */
    WRONGS
};
static const char *const wrong_names[WRONGS] = {
    "null_comm",     "negative_count", "null_type",   "uncommitted",       "null_op", "wrong_op",
    "negative_root", "big_root",       "same_buffer", "received_in_place", "other"};
#define BIT(wrong) (1u << (wrong))

/* The arguments of a call. */
static struct {
    MPI_Comm comm;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    int root;
    void *send, *receive;
    int counts[MOST], places[MOST];
    MPI_Datatype types[MOST];
    int other; /* is something else wrong? */
} a;

static MPI_Comm comm, grid;
static MPI_Datatype uncommitted;
static double sent[MOST * BIG], received[MOST * BIG];

static int barrier(void) {
    return MPI_Barrier(a.comm);
}
static int bcast(void) {
    return MPI_Bcast(a.receive, a.count, a.type, a.root, a.comm);
}
static int gather(void) {
    return MPI_Gather(a.send, a.count, a.type, a.receive, a.count, a.type, a.root, a.comm);
}
static int gatherv(void) {
    return MPI_Gatherv(a.send, a.count, a.type, a.receive, a.counts, a.places, a.type, a.root,
                       a.comm);
}
static int scatter(void) {
    return MPI_Scatter(a.send, a.count, a.type, a.receive, a.count, a.type, a.root, a.comm);
}
static int scatterv(void) {
    return MPI_Scatterv(a.send, a.counts, a.places, a.type, a.receive, a.count, a.type, a.root,
                        a.comm);
}
static int allgather(void) {
    return MPI_Allgather(a.send, a.count, a.type, a.receive, a.count, a.type, a.comm);
}
static int allgatherv(void) {
    return MPI_Allgatherv(a.send, a.count, a.type, a.receive, a.counts, a.places, a.type, a.comm);
}
static int alltoall(void) {
    return MPI_Alltoall(a.send, a.count, a.type, a.receive, a.count, a.type, a.comm);
}
static int alltoallv(void) {
    return MPI_Alltoallv(a.send, a.counts, a.places, a.type, a.receive, a.counts, a.places, a.type,
                         a.comm);
}
static int alltoallw(void) {
    return MPI_Alltoallw(a.send, a.counts, a.places, a.types, a.receive, a.counts, a.places,
                         a.types, a.comm);
}
static int reduce(void) {
    return MPI_Reduce(a.send, a.receive, a.count, a.type, a.op, a.root, a.comm);
}
static int allreduce(void) {
    return MPI_Allreduce(a.send, a.receive, a.count, a.type, a.op, a.comm);
}
static int reduce_scatter(void) {
    return MPI_Reduce_scatter(a.send, a.receive, a.counts, a.type, a.op, a.comm);
}
static int reduce_scatter_block(void) {
    return MPI_Reduce_scatter_block(a.send, a.receive, a.count, a.type, a.op, a.comm);
}
static int scan(void) {
    return MPI_Scan(a.send, a.receive, a.count, a.type, a.op, a.comm);
}
static int exscan(void) {
    return MPI_Exscan(a.send, a.receive, a.count, a.type, a.op, a.comm);
}
/* On communicators without neighbors, for `other`. */
static MPI_Comm neighborhood(void) {
    return a.comm == comm && !a.other ? grid : a.comm;
}
static int neighbor_allgather(void) {
    return MPI_Neighbor_allgather(a.send, a.count, a.type, a.receive, a.count, a.type,
                                  neighborhood());
}
static int neighbor_alltoall(void) {
    return MPI_Neighbor_alltoall(a.send, a.count, a.type, a.receive, a.count, a.type,
                                 neighborhood());
}

/* Calls that make a communicator. */
static int freed(int error, MPI_Comm *made) {
    if (error == MPI_SUCCESS && *made != MPI_COMM_NULL)
        MPI_Comm_free(made);
    return error;
}
static MPI_Comm made;
static int dup(void) {
    return freed(MPI_Comm_dup(a.comm, &made), &made);
}
static int split(void) {
    return freed(MPI_Comm_split(a.comm, a.other ? -17 : 0, 0, &made), &made);
}
static int split_type(void) {
    return freed(
        MPI_Comm_split_type(a.comm, a.other ? -17 : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made),
        &made);
}
static int create(void) {
    MPI_Group group = MPI_GROUP_NULL;
    if (!a.other)
        MPI_Comm_group(comm, &group);
    const int error = MPI_Comm_create(a.comm, group, &made);
    if (!a.other)
        MPI_Group_free(&group);
    return freed(error, &made);
}
static int cart(void) {
    const int size = a.other ? ranks + 5 : ranks, periodic = 0;
    return freed(MPI_Cart_create(a.comm,
                                 a.other       ? 1
                                 : a.count > 0 ? 1
                                               : a.count,
                                 &size, &periodic, 0, &made),
                 &made);
}
static int graph(void) {
    const int index[1] = {1}, edges[1] = {a.other ? ranks + 5 : 0};
    return freed(MPI_Graph_create(a.comm, a.count > 0 ? 1 : a.count, index, edges, 0, &made),
                 &made);
}
static int dist_graph(void) {
    const int source = a.other ? ranks + 5 : rank, degree = 1, to = rank;
    return freed(MPI_Dist_graph_create(a.comm, a.count > 0 ? 1 : a.count, &source, &degree, &to,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
                 &made);
}
static int dist_graph_adjacent(void) {
    const int to = a.other ? ranks + 5 : rank;
    const int degree = a.count > 0 ? 1 : a.count;
    return freed(MPI_Dist_graph_create_adjacent(a.comm, degree, &to, MPI_UNWEIGHTED, degree, &to,
                                                MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
                 &made);
}

#define DATA (BIT(NULL_COMM) | BIT(NEGATIVE_COUNT) | BIT(NULL_TYPE) | BIT(UNCOMMITTED))
#define ROOTED (BIT(NEGATIVE_ROOT) | BIT(BIG_ROOT))
#define REDUCES (DATA | BIT(NULL_OP) | BIT(WRONG_OP) | BIT(SAME_BUFFER))
#define IN_PLACE BIT(RECEIVED_IN_PLACE)
#define GIVEN (BIT(NULL_COMM) | BIT(OTHER))
static const struct {
    const char *name;
    int (*make)(void);
    unsigned wrongs;
} calls[] = {
    {"Barrier", barrier, BIT(NULL_COMM)},
    {"Bcast", bcast, DATA | ROOTED | IN_PLACE},
    {"Gather", gather, DATA | ROOTED},
    {"Gatherv", gatherv, DATA | ROOTED},
    {"Scatter", scatter, DATA | ROOTED},
    {"Scatterv", scatterv, DATA | ROOTED},
    {"Allgather", allgather, DATA | IN_PLACE},
    {"Allgatherv", allgatherv, DATA | IN_PLACE},
    {"Alltoall", alltoall, DATA | IN_PLACE},
    {"Alltoallv", alltoallv, DATA | IN_PLACE},
    {"Alltoallw", alltoallw, DATA | IN_PLACE},
    {"Reduce", reduce, REDUCES | ROOTED},
    {"Allreduce", allreduce, REDUCES | IN_PLACE},
    {"Reduce_scatter", reduce_scatter, REDUCES | IN_PLACE},
    {"Reduce_scatter_block", reduce_scatter_block, REDUCES | IN_PLACE},
    {"Scan", scan, REDUCES | IN_PLACE},
    {"Exscan", exscan, REDUCES | IN_PLACE},
    {"Neighbor_allgather", neighbor_allgather, DATA | BIT(OTHER)},
    {"Neighbor_alltoall", neighbor_alltoall, DATA | BIT(OTHER)},
    {"Comm_dup", dup, BIT(NULL_COMM)},
    {"Comm_split", split, GIVEN},
    {"Comm_split_type", split_type, GIVEN},
    {"Comm_create", create, GIVEN},
    {"Cart_create", cart, GIVEN | BIT(NEGATIVE_COUNT)},
    {"Graph_create", graph, GIVEN | BIT(NEGATIVE_COUNT)},
    {"Dist_graph_create", dist_graph, GIVEN | BIT(NEGATIVE_COUNT)},
    {"Dist_graph_create_adjacent", dist_graph_adjacent, GIVEN | BIT(NEGATIVE_COUNT)},
};
enum { CALLS = sizeof calls / sizeof *calls };

static void make_right(int count) {
    a.comm = comm;
    a.count = count;
    a.type = MPI_DOUBLE;
    a.op = MPI_SUM;
    a.root = ranks - 1;
    a.send = sent;
    a.receive = received;
    a.other = 0;
    for (int i = 0; i < MOST; ++i) {
        a.counts[i] = count;
        a.places[i] = i * count;
        a.types[i] = MPI_DOUBLE;
    }
}

static void make_wrong(enum wrong wrong) {
    for (int i = 0; i < MOST; ++i) {
        if (wrong == NEGATIVE_COUNT)
            a.counts[i] = -3;
        if (wrong == NULL_TYPE)
            a.types[i] = MPI_DATATYPE_NULL;
        if (wrong == UNCOMMITTED)
            a.types[i] = uncommitted;
    }
    if (wrong == NULL_COMM)
        a.comm = MPI_COMM_NULL;
    else if (wrong == NEGATIVE_COUNT)
        a.count = -3;
    else if (wrong == NULL_TYPE)
        a.type = MPI_DATATYPE_NULL;
    else if (wrong == UNCOMMITTED)
        a.type = uncommitted;
    else if (wrong == NULL_OP)
        a.op = MPI_OP_NULL;
    else if (wrong == WRONG_OP)
        a.op = MPI_BAND;
    else if (wrong == NEGATIVE_ROOT)
        a.root = -17;
    else if (wrong == BIG_ROOT)
        a.root = ranks;
    else if (wrong == SAME_BUFFER)
        a.receive = a.send;
    else if (wrong == RECEIVED_IN_PLACE)
        a.receive = MPI_IN_PLACE;
    else
        a.other = 1;
}

static int handled[2], jumps, last;
static jmp_buf caller;

static void note(int by, int code) {
    ++handled[by];
    MPI_Error_class(code, &last);
    if (jumps)
        longjmp(caller, 1);
}
static void of_comm(MPI_Comm *where, int *code, ...) {
    (void)where;
    note(0, *code);
}
static void of_world(MPI_Comm *where, int *code, ...) {
    (void)where;
    note(1, *code);
}

/* The class of the call's error. */
static int outcome(int call) {
    int class = -1;
    if (setjmp(caller) == 0)
        MPI_Error_class(calls[call].make(), &class);
    else
        class = last;
    return class;
}

static void still_right(void) {
    int value = rank == 1 ? 5 : 0, sum = 0;
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
    CHECK(MPI_Bcast(&value, 1, MPI_INT, 1, comm) == MPI_SUCCESS && value == 5);
    CHECK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS &&
          sum == 5 * ranks);
    CHECK(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_MAX, 0, comm) == MPI_SUCCESS);
}

/* One row for each call that was made. */
enum { COLUMNS = 3, ROWS = 2 * CALLS * WRONGS };
static struct {
    int call, wrong, count;
} rows[ROWS];
static int made_rows, outcomes[ROWS][COLUMNS];

static void begin_row(int call, int wrong, int count) {
    rows[made_rows].call = call;
    rows[made_rows].wrong = wrong;
    rows[made_rows].count = count;
    memset(handled, 0, sizeof handled);
    if (rank == 0)
        fprintf(stderr, "%s %s\n", calls[call].name, wrong_names[wrong]);
}

static void end_row(int class) {
    outcomes[made_rows][0] = class;
    outcomes[made_rows][1] = handled[0];
    outcomes[made_rows][2] = handled[1];
    ++made_rows;
}

static void report(void) {
    static int all[MOST][ROWS][COLUMNS];
    MPI_Gather(outcomes, ROWS * COLUMNS, MPI_INT, all, ROWS * COLUMNS, MPI_INT, 0, MPI_COMM_WORLD);
    for (int row = 0; row < made_rows && rank == 0; ++row) {
        printf("%s %s %d:", calls[rows[row].call].name, wrong_names[rows[row].wrong],
               rows[row].count);
        for (int other = 0; other < ranks; ++other)
            printf(" | %d %d %d", all[other][row][0], all[other][row][1], all[other][row][2]);
        puts("");
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(argc >= 4 && argc % 2 == 0 && ranks > 1 && ranks <= MOST);
    CHECK(rank != 0 || freopen(argv[3], "w", stdout));
    const char *const way = argv[1];
    const int checked = strcmp(argv[2], "checked") == 0;
    int dims[1] = {ranks}, periods[1] = {1};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Type_contiguous(2, MPI_DOUBLE, &uncommitted);
    MPI_Errhandler handlers[2] = {MPI_ERRORS_RETURN, MPI_ERRORS_RETURN};
    const int own = strcmp(way, "handler") == 0 || strcmp(way, "jump") == 0;
    if (own) {
        MPI_Comm_create_errhandler(of_comm, &handlers[0]);
        MPI_Comm_create_errhandler(of_world, &handlers[1]);
    }
    MPI_Comm_set_errhandler(comm, handlers[0]);
    MPI_Comm_set_errhandler(grid, handlers[0]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[1]);
    for (int call = 0; call < CALLS; ++call)
        for (int wrong = 0; wrong < WRONGS; ++wrong) {
            int left_out = (calls[call].wrongs & BIT(wrong)) == 0;
            for (int i = 4; i < argc; i += 2)
                left_out = left_out || (strcmp(argv[i], calls[call].name) == 0 &&
                                        strcmp(argv[i + 1], wrong_names[wrong]) == 0);
            /* few bytes go another way than many */
            for (int count = 1; !left_out && count <= BIG; count += BIG - 1) {
                make_right(count);
                make_wrong(wrong);
                begin_row(call, wrong, count);
                int class = -1;
                jumps = strcmp(way, "jump") == 0;
                if (strcmp(way, "tasks") == 0) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task shared(class)
                    class = outcome(call);
                } else {
                    class = outcome(call);
                }
                jumps = 0;
                end_row(class);
                if (checked)
                    still_right();
            }
        }
    report();
    MPI_Type_free(&uncommitted);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&comm);
    if (rank == 0)
        puts("end");
    MPI_Finalize();
    return 0;
}
