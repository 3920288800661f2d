/* SPDX-License-Identifier: Apache-2.0
 * Collective calls that are waited for where they stand.
 * Compiled with -sennit-collectives. */
#include <mpi.h>
#include <stddef.h>

double a[8], b[8], c[8];

void used_between(void) {
    MPI_Bcast(a, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of a is waited for where it stands: nothing is to be done before a read of a (line +1)
    b[0] = a[0];
    MPI_Bcast(c, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of c is waited for where it stands: nothing is to be done before the function's end
}

void communicator_between(MPI_Comm comm, MPI_Comm *made) {
    MPI_Bcast(a, 8, MPI_DOUBLE, 0, comm); // missed: MPI_Bcast of a is waited for where it stands: nothing is to be done before a call of MPI_Comm_dup (line +1)
    MPI_Comm_dup(comm, made);
    MPI_Bcast(b, 8, MPI_DOUBLE, 0, comm); // missed: MPI_Bcast of b is waited for where it stands: nothing is to be done before the function's end
}

void message_between(int other) {
    MPI_Bcast(a, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of a is waited for where it stands: nothing is to be done before a call of MPI_Send (line +1)
    MPI_Send(b, 8, MPI_DOUBLE, other, 0, MPI_COMM_WORLD); // missed: MPI_Send of b is waited for where it stands: nothing is to be done before a call of MPI_Bcast (line +1)
    MPI_Bcast(c, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of c is waited for where it stands: nothing is to be done before the function's end
}

int error_code(void) {
    const int error = MPI_Bcast(a, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of a is waited for where it stands: its error code is used, or it may throw
    MPI_Bcast(b, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of b is waited for where it stands: nothing is to be done before the function's end
    return error;
}

void own_operation(MPI_Op operation) {
    MPI_Allreduce(a, b, 8, MPI_DOUBLE, operation, MPI_COMM_WORLD); // missed: MPI_Allreduce of b is waited for where it stands: its operation may be one of the program's own
    MPI_Bcast(c, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of c is waited for where it stands: nothing is to be done before the function's end
}

/* Who gets the second knows that all have come to the first: a barrier. */
void barrier_by_hand(void) {
    MPI_Reduce(a, b, 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); // missed: MPI_Reduce of b is waited for where it stands: nothing is to be done before a call of MPI_Bcast (line +1)
    MPI_Bcast(c, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of c is waited for where it stands: nothing is to be done before the function's end
}

void groups(void) {
    MPI_Bcast(a, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: MPI_Bcast of a is waited for where it stands: nothing is to be done before a call of MPI_Bcast (line +1)
    MPI_Bcast(b, 8, MPI_DOUBLE, 0, MPI_COMM_SELF); // missed: MPI_Bcast of b is waited for where it stands: nothing is to be done before the function's end
}

void in_one_buffer(int n) {
    for (int i = 0; i < n; ++i)
        MPI_Bcast(a, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD); // missed: the collective calls of this loop are waited for one by one: each round receives into the same memory
}

void stack(void) {
#pragma omp task
    {
        double mine[8] = {1};
        MPI_Allreduce(MPI_IN_PLACE, mine, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // missed: MPI_Allreduce suspends its task: its buffer is on the task's stack
    }
}
