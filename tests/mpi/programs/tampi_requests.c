/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=all -- {library}
 * test: shape=1x1|2x1|2x2 sample="shape == '2x2'"
 * build: compiler=all out={bin}/{program}_cxx-{compiler}-{mpi}
 *     compile='{wrapped_cxx} -O1 -g -std=c++17 -x c++ -Wall -Wextra -Werror {skip_cxx} -fopenmp
 *     {warnings} -I{include}' -- -x none {library}
 * test: shape=2x2 called={program}_cxx
 * build: out={bin}/{program}_plain-{compiler}-{mpi} compile='{wrapped} {c_flags} -I{include}'
 *     -Wno-unknown-pragmas -- {library}
 * test: shape=2x1 called={program}_plain
 * The calls of TAMPI 1 to 3, which have a request: in tasks they bind what they start, and
 * TAMPI_Wait and TAMPI_Waitall do nothing. Built without OpenMP, the same program is one of plain
 * MPI. Forms with and without a request stand side by side, in C and in C++. */
#include "check.h"

#include <TAMPI.h>

enum { messages = 40, most = 4 };

static int got[messages], sent[messages], seen;
static MPI_Request requests[2 * messages];
static MPI_Status statuses[2 * messages];

/* The messages of all tasks are asked for at once, or, without tasks, of all turns of the loop. */
static void exchange(void) {
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) depend(out : got[i])
        {
            got[i] = -1;
            CHECK(TAMPI_Irecv(&got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD, &requests[i],
                              &statuses[i]) == MPI_SUCCESS);
        }
#pragma omp task firstprivate(i) depend(out : sent[i])
        {
            MPI_Request *const request = &requests[messages + i];
            sent[i] = 100 * rank + i;
            CHECK((i % 2 ? TAMPI_Isend(&sent[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD, request)
                         : TAMPI_Issend(&sent[i], 1, MPI_INT, next(), i, MPI_COMM_WORLD,
                                        request)) == MPI_SUCCESS);
        }
    }
    CHECK(TAMPI_Waitall(2 * messages, requests, statuses) == MPI_SUCCESS);
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) depend(in : got[i]) depend(inout : seen)
        {
            CHECK(got[i] == 100 * previous() + i);
            CHECK(statuses[i].MPI_SOURCE == previous() && statuses[i].MPI_TAG == i);
            ++seen;
        }
    }
}

/* One after the other in one task, of which those that depend on it have all results. */
static void collectives(void) {
    static int mine, scan, sum, all[most], ones[most], offsets[most], pieces[most], parts[most];
    static MPI_Request at[5];
    mine = rank + 1;
    for (int i = 0; i < most; ++i) {
        ones[i] = 1;
        offsets[i] = i;
        pieces[i] = 10 * rank + i;
    }
#pragma omp task depend(out : all)
    {
        TAMPI_Ibarrier(MPI_COMM_WORLD, &at[0]);
        TAMPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &at[1]);
        TAMPI_Iscan(&mine, &scan, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &at[2]);
        TAMPI_Iallgatherv(&mine, 1, MPI_INT, all, ones, offsets, MPI_INT, MPI_COMM_WORLD, &at[3]);
        TAMPI_Ialltoallv(pieces, ones, offsets, MPI_INT, parts, ones, offsets, MPI_INT,
                         MPI_COMM_WORLD, &at[4]);
    }
    for (int i = 0; i < 5; ++i)
        CHECK(TAMPI_Wait(&at[i], MPI_STATUS_IGNORE) == MPI_SUCCESS);
#pragma omp task depend(in : all) depend(inout : seen)
    {
        CHECK(sum == ranks * (ranks + 1) / 2 && scan == (rank + 1) * (rank + 2) / 2);
        for (int i = 0; i < ranks; ++i)
            CHECK(all[i] == i + 1 && parts[i] == 10 * i + rank);
        ++seen;
    }
}

#ifdef _OPENMP
/* TAMPI 4's forms, in the same program. */
static void without_requests(void) {
    static int one = -1;
    static MPI_Status status;
#pragma omp task depend(out : one)
    CHECK(TAMPI_Irecv(&one, 1, MPI_INT, previous(), messages, MPI_COMM_WORLD, &status) ==
          MPI_SUCCESS);
#pragma omp task
    CHECK(TAMPI_Isend(&rank, 1, MPI_INT, next(), messages, MPI_COMM_WORLD) == MPI_SUCCESS);
#pragma omp task depend(in : one) depend(inout : seen)
    {
        CHECK(one == previous() && status.MPI_TAG == messages);
        ++seen;
    }
}
#endif

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(ranks <= most);
    int expected = messages + 1;
#pragma omp parallel
#pragma omp single
    {
        exchange();
        collectives();
    }
#ifdef _OPENMP
#pragma omp parallel
#pragma omp single
    without_requests();
    ++expected;
#endif
    CHECK(seen == expected);
    MPI_Finalize();
    return 0;
}
