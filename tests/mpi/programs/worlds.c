/* SPDX-License-Identifier: Apache-2.0
 * build_once: -fopenmp -I{include} -fPIE -pie
 * worlds: mpi.{program}.{mpi} how=
 * worlds: mpi.{program}.virtual.{mpi} how=--virtual if=loader labels=mpi,virtual
 * worlds: mpi.{program}.fibers.{mpi} how=--virtual=fibers if="loader and x86" labels=mpi,virtual
 * worlds: mpi.{program}.abort.{mpi} how= exit=7 say=abort
 * worlds: mpi.{program}.hang.{mpi} how= say=hang SENNIT_HANG=abort SENNIT_HANG_GRACE=1
 *     SENNIT_DOORBELLS=off
 *     pass='on MPI_COMM_WORLD of program 1 .{program}-{mpi}.: called by 1 of its 2 ranks'
 * Two programs of one job that each have their own MPI_COMM_WORLD (sennit run --worlds), of three
 * ranks and of two: worlds NUMBER OWN ALL [abort|hang]. What is asked of MPI_COMM_WORLD is about
 * the program's own ranks; all of the job meet on sennit_comm_all(). */
#include "folder.h"

#include <sennit_worlds.h>

#include <string.h>

#pragma weak sennit_comm_all /* as of a program that is not linked with Sennit */

static int number, own, all_ranks, first;
static MPI_Comm all;

static void ask_for_ranks(void) {
    int count = 0, result = MPI_UNEQUAL;
    CHECK(ranks == own && rank >= 0 && rank < own);
    MPI_Comm_size(all, &count);
    CHECK(count == all_ranks);
    MPI_Comm_rank(all, &count);
    CHECK(count == first + rank);
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_IDENT);
    MPI_Comm_compare(MPI_COMM_WORLD, all, &result);
    CHECK(result == MPI_UNEQUAL);
}

/* The other way to the communicator: a key of the world's info. */
static void ask_for_info(void) {
    MPI_Info info;
    char value[32] = "";
    int found = 0, result = MPI_UNEQUAL;
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    MPI_Info_get(info, "sennit_comm_all", sizeof value - 1, value, &found);
    CHECK(found);
    MPI_Comm_compare(MPI_Comm_f2c((MPI_Fint)atoi(value)), all, &result);
    CHECK(result == MPI_IDENT);
    MPI_Info_free(&info);
}

static void ask_for_handle(void) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == (int)strlen(name));
    MPI_Comm_set_name(MPI_COMM_WORLD, "mine");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(strcmp(name, "mine") == 0);
}

static void translate_ranks(void) {
    MPI_Group mine, everyone;
    int size = 0, in_world = rank, in_all = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &mine);
    MPI_Comm_group(all, &everyone);
    MPI_Group_size(mine, &size);
    MPI_Group_translate_ranks(mine, 1, &in_world, everyone, &in_all);
    CHECK(size == own && in_all == first + rank);
    MPI_Group_free(&mine);
    MPI_Group_free(&everyone);
}

/* Those of MPI tell of the job; the program's own are on its world, and are copied with it. */
static void keep_attributes(void) {
    void *value = NULL;
    int found = 0, key = MPI_KEYVAL_INVALID, data = 5;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    CHECK(found && *(int *)value >= 32767);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found);
    CHECK(found && *(int *)value == number);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
    CHECK(!found || *(int *)value > 0);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &data);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_attr(copy, key, &value, &found);
    CHECK(found && value == &data);
    MPI_Comm_free(&copy);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    CHECK(!found);
    MPI_Comm_free_keyval(&key);
}

static MPI_Comm told;

static void hear(MPI_Comm *comm, int *error, ...) {
    (void)error;
    told = *comm;
}

/* A rank of the other program is none of this world; the handler is the world's. */
static void handle_errors(void) {
    MPI_Errhandler before, handler;
    int class = MPI_SUCCESS;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int error = MPI_Send(&class, 1, MPI_INT, own, 0, MPI_COMM_WORLD);
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_RANK);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    CHECK(told == MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&before);
}

/* In tasks, which are suspended meanwhile. */
static void pass_messages(void) {
    enum { messages = 8 };
    int got[messages], in_all = -1;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * messages; ++i) {
#pragma omp task firstprivate(i) shared(got)
        if (i < messages)
            MPI_Recv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Ssend(&i, 1, MPI_INT, next(), 2 * messages - 1 - i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < messages; ++i)
        CHECK(got[i] == 2 * messages - 1 - i);
    const int position = first + rank;
    MPI_Sendrecv(&position, 1, MPI_INT, (position + 1) % all_ranks, 3, &in_all, 1, MPI_INT,
                 (position + all_ranks - 1) % all_ranks, 3, all, MPI_STATUS_IGNORE);
    CHECK(in_all == (position + all_ranks - 1) % all_ranks);
}

static void meet_in_collectives(void) {
    int one = 1, sum = 0, root = number, list[16];
    MPI_Request request;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == own);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == all_ranks);
    MPI_Bcast(&root, 1, MPI_INT, own - 1, MPI_COMM_WORLD);
    CHECK(root == number);
    MPI_Iallgather(&rank, 1, MPI_INT, list, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < own; ++i)
        CHECK(list[i] == i);
}

static void make_communicators(void) {
    MPI_Comm made;
    int size = 0, dims[1] = {own}, periods[1] = {1}, source = -1, target = -1;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &made);
    MPI_Comm_size(made, &size);
    CHECK(size == (rank == 0 ? 1 : own - 1));
    MPI_Comm_free(&made);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    MPI_Comm_size(made, &size);
    CHECK(size <= own);
    MPI_Comm_free(&made);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &made);
    MPI_Cart_shift(made, 0, 1, &source, &target);
    CHECK(source == previous() && target == next());
    MPI_Comm_free(&made);
}

/* The two programs, side by side. */
static void couple(void) {
    MPI_Comm between, together;
    int size = 0, position = -1;
    MPI_Intercomm_create(MPI_COMM_WORLD, 0, all, number == 0 ? own : 0, 9, &between);
    MPI_Comm_remote_size(between, &size);
    CHECK(size == all_ranks - own);
    MPI_Intercomm_merge(between, number, &together);
    MPI_Comm_rank(together, &position);
    CHECK(position == first + rank);
    MPI_Comm_free(&together);
    MPI_Comm_free(&between);
}

static void put_into_window(void) {
    static int there IN_WINDOW;
    MPI_Win window;
    there = -1;
    MPI_Win_create(&there, sizeof there, sizeof there, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, next(), 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(there == previous());
    MPI_Win_free(&window);
}

/* One program after the other: Open MPI 4.1 has one file for both (docs/mpi-faults.md). */
static void put_into_windows(void) {
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == number)
            put_into_window();
        MPI_Barrier(all);
    }
}

static void write_files(void) {
    MPI_File file;
    int read = -1;
    enter_folder();
    MPI_File_open(MPI_COMM_WORLD, "ranks", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)sizeof rank * rank, &rank, 1, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (MPI_Offset)sizeof rank * next(), &read, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    CHECK(read == next());
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete("ranks", MPI_INFO_NULL);
    leave_folder();
}

#ifdef MPI_MAX_PSET_NAME_LEN
/* MPICH raises the error on the world. */
static void refuse_sets(MPI_Session session) {
    static const char *const sets[] = {"sennit://world/+1", "sennit://world/ 1", "sennit://world/",
                                       "sennit://world/2"};
    MPI_Errhandler before;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        MPI_Group group = MPI_GROUP_NULL;
        CHECK(MPI_Group_from_session_pset(session, sets[i], &group) != MPI_SUCCESS);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
}
#endif

/* Sessions name the same ranks. No error is fatal: Open MPI 5.0 raises one in
 * MPI_Session_get_pset_info that it calls MPI_SUCCESS. */
static void open_session(void) {
#ifdef MPI_MAX_PSET_NAME_LEN
    const char *const sets[] = {"mpi://WORLD", "sennit://all", "sennit://world/0"};
    const int sizes[] = {own, all_ranks, number == 0 ? own : all_ranks - own};
    MPI_Session session;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    for (int i = 0; i < 3; ++i) {
        MPI_Group group;
        MPI_Info info;
        char text[32] = "";
        int size = 0, length = sizeof text, found = 0;
        CHECK(MPI_Group_from_session_pset(session, sets[i], &group) == MPI_SUCCESS);
        MPI_Group_size(group, &size);
        CHECK(size == sizes[i]);
        CHECK(MPI_Session_get_pset_info(session, sets[i], &info) == MPI_SUCCESS);
        MPI_Info_get_string(info, "mpi_size", &length, text, &found);
        CHECK(found && atoi(text) == size);
        MPI_Info_free(&info);
        MPI_Group_free(&group);
    }
    refuse_sets(session);
    int sets_there = 0, length = 0;
    char name[MPI_MAX_PSET_NAME_LEN] = "";
    CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets_there) == MPI_SUCCESS);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, sets_there - 1, &length, name);
    CHECK(length == (int)sizeof "sennit://world/1");
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, sets_there - 1, &length, name);
    CHECK(strcmp(name, "sennit://world/1") == 0);
    MPI_Session_finalize(&session);
#endif
}

/* The others wait for this rank; the job ends all the same. Or it waits for its world. */
static void fail(const char *how) {
    if (number == 1 && rank == 0 && strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (number == 1 && rank == 0 && strcmp(how, "hang") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(all);
}

int main(int argc, char **argv) {
    CHECK(argc >= 4);
    number = atoi(argv[1]);
    own = atoi(argv[2]);
    all_ranks = atoi(argv[3]);
    first = number == 0 ? 0 : all_ranks - own;
    begin(&argc, &argv);
    CHECK(sennit_comm_all != NULL);
    all = sennit_comm_all();
    if (argc > 4)
        fail(argv[4]);
    static void (*const cases[])(void) = {
        ask_for_ranks, ask_for_info,     ask_for_handle,      translate_ranks,    keep_attributes,
        handle_errors, pass_messages,    meet_in_collectives, make_communicators, couple,
        write_files,   put_into_windows, open_session,
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        cases[i]();
    MPI_Barrier(all);
    MPI_Finalize();
    return 0;
}
