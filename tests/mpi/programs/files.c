/* SPDX-License-Identifier: Apache-2.0
 * test:
 * chaos: number=13
 * split:
 * Files in tasks: every way to read and write. One case at a time, since MPICH makes one call on
 * files at a time, whatever the file; rank 0 begins it before it has told the others to, in another
 * task.
 */
#include "folder.h"

#include "cases.h"

enum { count = 64, bytes = count * sizeof(int) };

struct place {
    MPI_File file;
    char name[64];
    int out[count], in[count];
};

static void open_file(struct place *place, MPI_Comm comm, const char *which) {
    snprintf(place->name, sizeof place->name, "sennit-files-%s-%d", which, 0);
    CHECK(MPI_File_open(comm, place->name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &place->file) == MPI_SUCCESS);
    CHECK(MPI_File_set_size(place->file, 0) == MPI_SUCCESS);
    CHECK(MPI_File_set_view(place->file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) ==
          MPI_SUCCESS);
    for (int i = 0; i < count; ++i) {
        place->out[i] = 1000 * rank + i;
        place->in[i] = -1;
    }
}

static void close_file(struct place *place, MPI_Comm comm) {
    CHECK(MPI_File_close(&place->file) == MPI_SUCCESS && place->file == MPI_FILE_NULL);
    MPI_Barrier(comm);
    if (rank == 0)
        CHECK(MPI_File_delete(place->name, MPI_INFO_NULL) == MPI_SUCCESS);
}

static void settle(struct place *place, MPI_Comm comm) {
    CHECK(MPI_File_sync(place->file) == MPI_SUCCESS);
    MPI_Barrier(comm);
    CHECK(MPI_File_sync(place->file) == MPI_SUCCESS);
}

static void check(const int *in, int from, MPI_Status *status) {
    int got = -1;
    MPI_Get_count(status, MPI_INT, &got);
    CHECK(got == count);
    for (int i = 0; i < count; ++i)
        CHECK(in[i] == 1000 * from + i);
}

static void at(MPI_Comm comm) {
    struct place p;
    MPI_Status status;
    MPI_Offset size;
    open_file(&p, comm, "at");
    CHECK(MPI_File_write_at(p.file, rank * count, p.out, count, MPI_INT, &status) == MPI_SUCCESS);
    settle(&p, comm);
    CHECK(MPI_File_read_at(p.file, next() * count, p.in, count, MPI_INT, &status) == MPI_SUCCESS);
    check(p.in, next(), &status);
    CHECK(MPI_File_get_size(p.file, &size) == MPI_SUCCESS && size >= ranks * (MPI_Offset)bytes);
    CHECK(MPI_File_preallocate(p.file, 2 * ranks * (MPI_Offset)bytes) == MPI_SUCCESS);
    CHECK(MPI_File_set_atomicity(p.file, 0) == MPI_SUCCESS);
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(MPI_File_set_info(p.file, info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    close_file(&p, comm);
}

static void individual(MPI_Comm comm) {
    struct place p;
    MPI_Status status;
    open_file(&p, comm, "individual");
    MPI_File_seek(p.file, rank * count, MPI_SEEK_SET);
    CHECK(MPI_File_write(p.file, p.out, count, MPI_INT, &status) == MPI_SUCCESS);
    settle(&p, comm);
    MPI_File_seek(p.file, next() * count, MPI_SEEK_SET);
    CHECK(MPI_File_read(p.file, p.in, count, MPI_INT, &status) == MPI_SUCCESS);
    check(p.in, next(), &status);
    close_file(&p, comm);
}

static void collective(MPI_Comm comm) {
    struct place p;
    MPI_Status status;
    open_file(&p, comm, "collective");
    CHECK(MPI_File_write_at_all(p.file, rank * count, p.out, count, MPI_INT, &status) ==
          MPI_SUCCESS);
    settle(&p, comm);
    CHECK(MPI_File_read_at_all(p.file, next() * count, p.in, count, MPI_INT, &status) ==
          MPI_SUCCESS);
    check(p.in, next(), &status);
    MPI_File_seek(p.file, (ranks + rank) * count, MPI_SEEK_SET);
    CHECK(MPI_File_write_all(p.file, p.out, count, MPI_INT, &status) == MPI_SUCCESS);
    settle(&p, comm);
    MPI_File_seek(p.file, (ranks + previous()) * count, MPI_SEEK_SET);
    CHECK(MPI_File_read_all(p.file, p.in, count, MPI_INT, &status) == MPI_SUCCESS);
    check(p.in, previous(), &status);
    close_file(&p, comm);
}

/* Several are under way at once. More of them: file_collectives.c. */
static void several(MPI_Comm comm) {
    enum { operations = 4, most = 65536, block = 16 };
    struct place p;
    int *data[operations];
    MPI_Request requests[operations];
    MPI_Status statuses[operations];
    MPI_Datatype whole, mine;
    open_file(&p, comm, "several");
    MPI_Type_contiguous(block, MPI_INT, &whole);
    MPI_Type_create_resized(whole, 0, block * ranks * (MPI_Aint)sizeof(int), &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(p.file, rank * block * (MPI_Offset)sizeof(int), MPI_INT, mine, "native",
                      MPI_INFO_NULL);
    for (int reads = 0; reads < 2; ++reads) {
        MPI_File_seek(p.file, 0, MPI_SEEK_SET);
        for (int i = 0; i < operations; ++i) {
            if (!reads)
                data[i] = malloc(most * sizeof(int));
            for (int k = 0; k < most; ++k)
                data[i][k] = reads ? -1 : (rank * operations + i) * most + k;
            if (reads)
                MPI_File_iread_all(p.file, data[i], most, MPI_INT, &requests[i]);
            else
                MPI_File_iwrite_all(p.file, data[i], most, MPI_INT, &requests[i]);
        }
        CHECK(MPI_Waitall(operations, requests, statuses) == MPI_SUCCESS);
        for (int i = 0; i < operations; ++i) {
            int got = -1;
            MPI_Get_count(&statuses[i], MPI_INT, &got);
            CHECK(got == most && requests[i] == MPI_REQUEST_NULL);
            for (int k = 0; k < most; ++k)
                CHECK(data[i][k] == (rank * operations + i) * most + k);
        }
    }
    for (int i = 0; i < operations; ++i)
        free(data[i]);
    MPI_Type_free(&whole);
    MPI_Type_free(&mine);
    close_file(&p, comm);
}

static void split(MPI_Comm comm) {
    struct place p;
    MPI_Status status;
    open_file(&p, comm, "split");
    CHECK(MPI_File_write_at_all_begin(p.file, rank * count, p.out, count, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_write_at_all_end(p.file, p.out, &status) == MPI_SUCCESS);
    settle(&p, comm);
    CHECK(MPI_File_read_at_all_begin(p.file, next() * count, p.in, count, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_read_at_all_end(p.file, p.in, &status) == MPI_SUCCESS);
    check(p.in, next(), &status);
    MPI_File_seek(p.file, (ranks + rank) * count, MPI_SEEK_SET);
    CHECK(MPI_File_write_all_begin(p.file, p.out, count, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_write_all_end(p.file, p.out, &status) == MPI_SUCCESS);
    settle(&p, comm);
    MPI_File_seek(p.file, (ranks + rank) * count, MPI_SEEK_SET);
    CHECK(MPI_File_read_all_begin(p.file, p.in, count, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_read_all_end(p.file, p.in, &status) == MPI_SUCCESS);
    check(p.in, rank, &status);
    close_file(&p, comm);
}

static void shared(MPI_Comm comm) {
    struct place p;
    MPI_Status status;
    MPI_Offset where = -1;
    open_file(&p, comm, "shared");
    CHECK(MPI_File_write_shared(p.file, p.out, count, MPI_INT, &status) == MPI_SUCCESS);
    settle(&p, comm);
    CHECK(MPI_File_get_position_shared(p.file, &where) == MPI_SUCCESS && where == ranks * count);
    MPI_Barrier(comm);
    CHECK(MPI_File_seek_shared(p.file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_read_shared(p.file, p.in, count, MPI_INT, &status) == MPI_SUCCESS);
    check(p.in, p.in[0] / 1000, &status);
    close_file(&p, comm);
}

static void ordered(MPI_Comm comm) {
    struct place p;
    MPI_Status status;
    open_file(&p, comm, "ordered");
    CHECK(MPI_File_write_ordered(p.file, p.out, count, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_write_ordered_begin(p.file, p.out, count, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_write_ordered_end(p.file, p.out, &status) == MPI_SUCCESS);
    settle(&p, comm);
    CHECK(MPI_File_seek_shared(p.file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_read_ordered(p.file, p.in, count, MPI_INT, &status) == MPI_SUCCESS);
    check(p.in, rank, &status);
    CHECK(MPI_File_read_ordered_begin(p.file, p.in, count, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_read_ordered_end(p.file, p.in, &status) == MPI_SUCCESS);
    check(p.in, rank, &status);
    close_file(&p, comm);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {CASE(at),      CASE(individual), CASE(collective),
                                             CASE(several), CASE(split),      CASE(shared),
                                             CASE(ordered)};
    begin(&argc, &argv);
    enter_folder();
    for (int i = 0; i < COUNT_OF(cases); ++i) {
        const int which = i;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task firstprivate(which)
            {
                if (rank > 0)
                    MPI_Recv(NULL, 0, MPI_INT, 0, which, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                cases[which].run(MPI_COMM_WORLD);
            }
#pragma omp task firstprivate(which)
            for (int to = 1; rank == 0 && to < ranks; ++to)
                MPI_Ssend(NULL, 0, MPI_INT, to, which, MPI_COMM_WORLD);
        }
    }
    leave_folder();
    MPI_Finalize();
    return 0;
}
