/* SPDX-License-Identifier: Apache-2.0
 * test: shape=1x1|2x1|2x2|3x1
 * chaos: number=14
 * split:
 * Non-blocking collective operations on files, several under way at once, that ranks start, test
 * and wait for each in its own way. MPICH's own need one way on all ranks. Each case writes, then
 * reads what was written. */
#include "folder.h"

#include <string.h>

enum { operations = 6, most = 8000, block = 16, files = 3 };

static MPI_File file[files];
static int *out[operations], *in[operations];
static MPI_Request requests[operations];
static MPI_Status statuses[operations];
static int reads, interleaved, explicitly;

/* Of a type that is freed at once; a file's operations are one behind the other. */
static void start_on(MPI_File where, int i, int place) {
    MPI_Datatype pair;
    MPI_Offset offset = (MPI_Offset)place * most + (interleaved ? 0 : rank * operations * most);
    MPI_Request *request = &requests[i];
    const int count = most / 2;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (!reads && !explicitly)
        MPI_File_iwrite_all(where, out[i], count, pair, request);
    else if (!explicitly)
        MPI_File_iread_all(where, in[i], count, pair, request);
#if MPI_VERSION >= 4
    else if (i % 2 && !reads)
        MPI_File_iwrite_at_all_c(where, offset, out[i], count, pair, request);
    else if (i % 2)
        MPI_File_iread_at_all_c(where, offset, in[i], count, pair, request);
#endif
    else if (!reads)
        MPI_File_iwrite_at_all(where, offset, out[i], count, pair, request);
    else
        MPI_File_iread_at_all(where, offset, in[i], count, pair, request);
    MPI_Type_free(&pair);
}
static void start(int i) {
    start_on(file[0], i, i);
}
static void start_all(void) {
    for (int i = 0; i < operations; ++i)
        start(i);
}

static int own_order(int i) {
    return rank % 2 ? i : operations - 1 - i;
}

static void wait_in_a_task(int which) {
    if (requests[which] == MPI_REQUEST_NULL)
        return; /* its status is there */
#pragma omp task firstprivate(which)
    CHECK(MPI_Wait(&requests[which], &statuses[which]) == MPI_SUCCESS);
}

/* The first ones when the others are complete. */
static void wait_in_tasks(int first) {
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < operations; ++i)
            if (own_order(i) >= first)
                wait_in_a_task(own_order(i));
#pragma omp taskwait
        for (int which = 0; which < first; ++which)
            wait_in_a_task(which);
    }
}

static void in_several_tasks(void) {
    start_all();
    wait_in_tasks(0);
}

static void oldest_last(void) {
    start_all();
    wait_in_tasks(2);
}

/* Some ranks have tested the first before they start the second. */
static void tested_between(void) {
    for (int i = 0; i < operations; ++i) {
        start(i);
        for (int k = 0, over = 0; rank % 2 == 0 && k < 200 && requests[0] != MPI_REQUEST_NULL; ++k)
            CHECK(MPI_Test(&requests[0], &over, &statuses[0]) == MPI_SUCCESS);
    }
    wait_in_tasks(1);
}

static void started_by_tasks(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < operations; ++i) {
#pragma omp task firstprivate(i) depend(inout : requests) depend(out : requests[i])
        start(i);
#pragma omp task firstprivate(i) depend(in : requests[i])
        CHECK(MPI_Wait(&requests[i], &statuses[i]) == MPI_SUCCESS);
    }
}

static void waitall_in_two_tasks(void) {
    enum { half = operations / 2 };
    start_all();
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2; ++i) {
        const int from = (rank % 2 ? i : 1 - i) * half;
#pragma omp task firstprivate(from)
        CHECK(MPI_Waitall(half, requests + from, statuses + from) == MPI_SUCCESS);
    }
}

/* Each rank begins with another file: what is in order is only what is on one. */
static void several_files(void) {
    for (int k = 0; k < files; ++k) {
        const int which = (k + rank) % files;
        for (int i = which; i < operations; i += files)
            start_on(file[which], i, i / files);
    }
    wait_in_tasks(0);
}

static void outside_of_tasks(void) {
    int over = 0, left = operations;
    start_all();
    while (!over)
        MPI_Request_get_status(requests[0], &over, MPI_STATUS_IGNORE);
    while (left > operations / 2)
        for (int i = 0; i < operations; ++i) {
            const int which = own_order(i);
            if (requests[which] == MPI_REQUEST_NULL)
                continue;
            CHECK(MPI_Test(&requests[which], &over, &statuses[which]) == MPI_SUCCESS);
            left -= over;
        }
    while (left > 1) {
        int some = 0, indices[operations];
        MPI_Status done[operations];
        CHECK(MPI_Testsome(operations, requests, &some, indices, done) == MPI_SUCCESS);
        for (int i = 0; i < some; ++i, --left)
            statuses[indices[i]] = done[i];
    }
    if (left > 0) {
        int which = -1;
        MPI_Status status;
        CHECK(MPI_Waitany(operations, requests, &which, &status) == MPI_SUCCESS);
        statuses[which] = status;
    }
}

static void testall(void) {
    start_all();
    for (int over = 0; !over;)
        CHECK(MPI_Testall(operations, requests, &over, statuses) == MPI_SUCCESS);
}

static void waitall(void) {
    start_all();
    CHECK(MPI_Waitall(operations, requests, statuses) == MPI_SUCCESS);
}

/* The file pointer is the program's, also while operations that use it are under way. */
static void with_file_pointer(void) {
    const MPI_Offset origin = interleaved ? 0 : (MPI_Offset)rank * operations * most;
    MPI_Offset position = -1;
    const int otherwise = explicitly;
    explicitly = 0;
    for (int i = 0; i < operations; ++i) {
        int over = 0;
        MPI_File_seek(file[0], origin + (MPI_Offset)own_order(i) * most, MPI_SEEK_SET);
        start(own_order(i));
        MPI_File_get_position(file[0], &position);
        CHECK(position == origin + (MPI_Offset)(own_order(i) + 1) * most);
        for (int k = 0; k < 50 && !over; ++k)
            MPI_Request_get_status(requests[own_order(0)], &over, MPI_STATUS_IGNORE);
        MPI_File_get_position(file[0], &position);
        CHECK(position == origin + (MPI_Offset)(own_order(i) + 1) * most);
    }
    MPI_File_seek(file[0], origin + 1, MPI_SEEK_SET);
    wait_in_tasks(0);
    MPI_File_get_position(file[0], &position);
    CHECK(position == origin + 1);
    explicitly = otherwise;
}

static void open_files(void) {
    MPI_Datatype blocks, mine;
    MPI_Type_contiguous(block, MPI_INT, &blocks);
    MPI_Type_create_resized(blocks, 0, block * ranks * (MPI_Aint)sizeof(int), &mine);
    MPI_Type_commit(&mine);
    for (int i = 0; i < files; ++i) {
        const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
        char name[16];
        snprintf(name, sizeof name, "file-%d", i);
        CHECK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file[i]) == MPI_SUCCESS);
        if (interleaved)
            MPI_File_set_view(file[i], rank * block * (MPI_Offset)sizeof(int), MPI_INT, mine,
                              "native", MPI_INFO_NULL);
        else
            MPI_File_set_view(file[i], 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    }
    MPI_Type_free(&blocks);
    MPI_Type_free(&mine);
}

static void run(const char *name, void (*body)(void)) {
    static int times;
    ++times;
    for (int i = 0; i < operations; ++i)
        for (int k = 0; k < most; ++k) {
            out[i][k] = times + 100 * ((rank * operations + i) * most + k);
            in[i][k] = -1;
        }
    for (reads = 0; reads < 2; ++reads) {
        for (int i = 0; i < files; ++i)
            MPI_File_seek(file[i], interleaved ? 0 : rank * operations * most, MPI_SEEK_SET);
        body();
        for (int i = 0; i < operations; ++i) {
            int got = -1;
            MPI_Get_count(&statuses[i], MPI_INT, &got);
            CHECK(got == most && requests[i] == MPI_REQUEST_NULL);
        }
    }
    for (int i = 0; i < operations; ++i)
        CHECK(memcmp(in[i], out[i], most * sizeof(int)) == 0);
    if (rank == 0)
        printf("%s, %s, %s\n", name, interleaved ? "interleaved" : "apart",
               explicitly ? "at an offset" : "at the file pointer");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*body)(void);
        int in_tasks;
    } cases[] = {{"outside_of_tasks", outside_of_tasks, 0},
                 {"testall", testall, 0},
                 {"waitall", waitall, 0},
                 {"in_several_tasks", in_several_tasks, 1},
                 {"oldest_last", oldest_last, 1},
                 {"tested_between", tested_between, 1},
                 {"started_by_tasks", started_by_tasks, 1},
                 {"waitall_in_two_tasks", waitall_in_two_tasks, 1},
                 {"several_files", several_files, 1},
                 {"with_file_pointer", with_file_pointer, 1}};
#ifdef OPEN_MPI /* two threads in MPI_Test crash it while such operations are pending, bare too */
    const int in_tasks = 0;
#else
    const int in_tasks = 1;
#endif
    begin(&argc, &argv);
    enter_folder();
    for (int i = 0; i < operations; ++i) {
        out[i] = malloc(most * sizeof(int));
        in[i] = malloc(most * sizeof(int));
    }
    for (int way = 0; way < 4; ++way) {
        interleaved = way % 2;
        explicitly = way / 2;
        open_files();
        for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
            if (in_tasks >= cases[i].in_tasks)
                run(cases[i].name, cases[i].body);
        for (int i = 0; i < files; ++i)
            MPI_File_close(&file[i]);
    }
    leave_folder();
    MPI_Finalize();
    return 0;
}
