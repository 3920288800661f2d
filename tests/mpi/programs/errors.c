/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1|2x2
 * network, split, in_world:
 * Errors reach the caller in a task as they would without: the code with MPI_ERRORS_RETURN, else
 * one call of the communicator's own error handler, with the right communicator and code; also
 * errors that show only when a request is tested, such as a truncated message. */
#include "check.h"

#include <stdatomic.h>

enum { messages = 20 };

static int class_of(int error) {
    int class = 0;
    MPI_Error_class(error, &class);
    return class;
}

static MPI_Comm comm, other;
static atomic_int handled, handled_by_other, wrong;

static void handler(MPI_Comm *where, int *error, ...) {
    atomic_fetch_add(*where == other ? &handled_by_other : &handled, 1);
    const int class = class_of(*error);
    if (class != MPI_ERR_TRUNCATE && class != MPI_ERR_RANK && class != MPI_ERR_IN_STATUS)
        atomic_fetch_add(&wrong, 1);
}

/* Receives that are too small, many at a time. */
static void truncate(MPI_Comm where) {
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i, where)
        {
            int small = 0;
            const int error = MPI_Recv(&small, 1, MPI_INT, previous(), i, where, MPI_STATUS_IGNORE);
            CHECK(class_of(error) == MPI_ERR_TRUNCATE);
        }
    }
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i, where)
        {
            int big[4] = {0};
            CHECK(MPI_Send(big, 4, MPI_INT, next(), i, where) == MPI_SUCCESS);
        }
    }
#pragma omp taskwait
}

static void wrong_rank(MPI_Comm where) {
#pragma omp task firstprivate(where)
    {
        int value = 0;
        CHECK(class_of(MPI_Send(&value, 1, MPI_INT, ranks + 5, 1, where)) == MPI_ERR_RANK);
        CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, ranks + 5, 2, where, MPI_STATUS_IGNORE)) ==
              MPI_ERR_RANK);
        CHECK(class_of(MPI_Bcast(&value, 1, MPI_INT, ranks + 5, where)) != MPI_SUCCESS);
    }
#pragma omp taskwait
}

/* Both halves of an exchange fail, one of them only when it is tested: one call of the handler. */
static void exchange_fails_twice(void) {
    const int before = atomic_load(&handled);
#pragma omp task
    {
        int big[4] = {0}, small = 0, token = 0;
        const int nobody = ranks + 5;
        for (int replace = 0; replace < 2; ++replace) {
            MPI_Request request; /* the long message is there when the exchange begins */
            MPI_Isend(big, 4, MPI_INT, next(), 70, comm, &request);
            MPI_Sendrecv(&token, 1, MPI_INT, next(), 71, &token, 1, MPI_INT, previous(), 71, comm,
                         MPI_STATUS_IGNORE);
            const int error = replace
                                  ? MPI_Sendrecv_replace(&small, 1, MPI_INT, nobody, 72, previous(),
                                                         70, comm, MPI_STATUS_IGNORE)
                                  : MPI_Sendrecv(&token, 1, MPI_INT, nobody, 72, &small, 1, MPI_INT,
                                                 previous(), 70, comm, MPI_STATUS_IGNORE);
            CHECK(class_of(error) == MPI_ERR_RANK);
            /* Where the exchange has not taken it, as in bare MPI: */
            int left = 0;
            MPI_Barrier(comm);
            MPI_Iprobe(previous(), 70, comm, &left, MPI_STATUS_IGNORE);
            if (left)
                MPI_Recv(big, 4, MPI_INT, previous(), 70, comm, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        CHECK(atomic_load(&handled) == before + 2);
        CHECK(class_of(MPI_Sendrecv(&token, 1, MPI_INT, nobody, 72, &small, 1, MPI_INT,
                                    MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
        CHECK(atomic_load(&handled) == before + 3);
    }
#pragma omp taskwait
}

/* One request fails long before the last is complete: the handler is called all the same, which
 * for MPICH is that of MPI_COMM_WORLD. */
static void fails_early(void) {
    const int before = atomic_load(&handled);
    int small = 0, late = 0;
    int big[2] = {0};
#pragma omp task shared(small, late)
    {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(&small, 1, MPI_INT, previous(), 80, comm, &requests[0]);
        MPI_Irecv(&late, 1, MPI_INT, previous(), 81, comm, &requests[1]);
        CHECK(class_of(MPI_Waitall(2, requests, statuses)) != MPI_SUCCESS);
        CHECK(class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    }
#pragma omp task shared(big)
    {
        MPI_Send(big, 2, MPI_INT, next(), 80, comm);
        for (const double start = MPI_Wtime(); MPI_Wtime() - start < 0.05;) {
#pragma omp taskyield
        }
        MPI_Send(big, 1, MPI_INT, next(), 81, comm);
    }
#pragma omp taskwait
    CHECK(atomic_load(&handled) == before + 1);
}

/* What the program sees on MPI_COMM_SELF is what it put there. */
static void self_is_untouched(void) {
    MPI_Errhandler set, got;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    MPI_Comm_create_errhandler(handler, &set);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, set);
    MPI_Errhandler_free(&set);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
    CHECK(got != MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    const int before = atomic_load(&handled);
    int value = 0;
    CHECK(MPI_Send(&value, 1, MPI_INT, 5, 0, MPI_COMM_SELF) != MPI_SUCCESS);
    CHECK(atomic_load(&handled) == before + 1);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    CHECK(MPI_Send(&value, 1, MPI_INT, 5, 0, copy) != MPI_SUCCESS);
    CHECK(MPI_Send(&value, 1, MPI_INT, 5, 0, copy) != MPI_SUCCESS);
    CHECK(atomic_load(&handled) == before + 3);
    MPI_Comm_free(&copy);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#pragma omp parallel
#pragma omp single
    {
        truncate(comm);
        wrong_rank(comm);
    }
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(comm, own);
    MPI_Comm_set_errhandler(other, own);
#pragma omp parallel
#pragma omp single
    {
        truncate(comm);
        CHECK(atomic_load(&handled) == messages);
        truncate(other);
        CHECK(atomic_load(&handled) == messages && atomic_load(&handled_by_other) == messages);
        exchange_fails_twice();
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
        fails_early();
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    CHECK(atomic_load(&wrong) == 0);
    self_is_untouched();
    MPI_Errhandler_free(&own);
    MPI_Finalize();
    return 0;
}
