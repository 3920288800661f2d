/* SPDX-License-Identifier: Apache-2.0
 * test:
 * chaos: number=1
 * MPI_Sendrecv_replace in tasks, where what is sent cannot be packed as usual: absolute addresses,
 * more than 2 GiB, nobody at one end. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

/* Two arrays of which every other element is replaced, by their addresses. */
static void absolute_addresses(void) {
    enum { length = 10 };
    int whole[length];
    double part[length];
    for (int i = 0; i < length; ++i)
        part[i] = whole[i] = rank * 100 + i;
    MPI_Datatype every_other, type;
    MPI_Type_vector(length / 2, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Aint places[2];
    MPI_Get_address(whole, &places[0]);
    MPI_Get_address(part, &places[1]);
    MPI_Type_create_struct(2, (int[]){length, 1}, places, (MPI_Datatype[]){MPI_INT, every_other},
                           &type);
    MPI_Type_commit(&type);
    MPI_Status status;
    CHECK(MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, next(), 1, previous(), 1, MPI_COMM_WORLD,
                               &status) == MPI_SUCCESS);
    int elements = -1;
    MPI_Get_elements(&status, type, &elements);
    CHECK(elements == length + length / 2 && status.MPI_SOURCE == previous());
    for (int i = 0; i < length; ++i) {
        CHECK(whole[i] == previous() * 100 + i);
        CHECK(part[i] == (i % 2 ? rank : previous()) * 100 + i);
    }
    MPI_Type_free(&type);
    MPI_Type_free(&every_other);
}

/* More bytes than an int counts, in little memory: the same pages again and again. */
enum { page_bytes = 1 << 24, pages = 130 };
static const int elements = pages * (page_bytes / (int)sizeof(double));

static double *map_pages(void) {
    const int file = memfd_create("pages", 0);
    CHECK(file >= 0 && ftruncate(file, page_bytes) == 0);
    char *base = mmap(NULL, (size_t)pages * page_bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(base != MAP_FAILED);
    for (size_t i = 0; i < pages; ++i)
        CHECK(mmap(base + i * page_bytes, page_bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
    close(file);
    return (double *)base;
}

static void nobody_at_one_end(double *values) {
    MPI_Status status;
    values[0] = rank;
    CHECK(MPI_Sendrecv_replace(values, elements, MPI_DOUBLE, MPI_PROC_NULL, 2, MPI_PROC_NULL, 2,
                               MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    CHECK(values[0] == rank && status.MPI_SOURCE == MPI_PROC_NULL);
    /* Along a line that has ends. */
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    CHECK(MPI_Sendrecv_replace(values, 1, MPI_DOUBLE, right, 3, left, 3, MPI_COMM_WORLD, &status) ==
          MPI_SUCCESS);
    CHECK(values[0] == (rank > 0 ? rank - 1 : 0) && status.MPI_SOURCE == left);
}

/* Rank 0 has a long message replaced by a short one. */
static void long_message(double *values) {
    MPI_Status status;
    int count = -1;
    if (rank == 0) {
        values[0] = 4711;
        CHECK(MPI_Sendrecv_replace(values, elements, MPI_DOUBLE, 1, 4, 1, 4, MPI_COMM_WORLD,
                                   &status) == MPI_SUCCESS);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == 1 && values[0] == 42);
    } else if (rank == 1) {
        const double answer = 42;
        MPI_Recv(values, elements, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == elements && values[0] == 4711);
        MPI_Send(&answer, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    double *const values = map_pages();
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 20; ++i) {
#pragma omp task
            absolute_addresses();
#pragma omp taskwait
        }
#pragma omp task
        nobody_at_one_end(values);
#pragma omp taskwait
        if (ranks > 1) {
#pragma omp task
            long_message(values);
        }
    }
    MPI_Finalize();
    return 0;
}
