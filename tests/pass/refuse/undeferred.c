/* SPDX-License-Identifier: Apache-2.0
 * Undeferred tasks that have to hold up their creator. Compiled with -sennit-detach. */
#include <mpi.h>

extern double *blocks[16];
double whole[64];
static int tags[16];
void touch(double *x);

void no_dependences(int from) {
#pragma omp task if (0)
    MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv of whole is bound to its task, which ends without waiting for it // missed: MPI_Recv of whole holds up the creator of its task: the task has no dependences
}

void work_before(double *x, int to) {
#pragma omp task if (0) depend(inout : x[0])
    {
        touch(x);
        MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // missed: MPI_Send holds up the creator of its task: the task has a call of touch (line -1)
    }
}

void status_read(double *x, int from, int *tag) {
#pragma omp task if (0) depend(out : x[0]) // missed: this task holds up its creator: the task has a call of MPI_Recv (line +3)
    {
        MPI_Status status;
        MPI_Recv(x, 64, MPI_DOUBLE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status); // missed: MPI_Recv suspends its task: its status is used by a read (line +1)
        *tag = status.MPI_TAG;
    }
}

void to_all(double *x, int ranks) {
#pragma omp task if (0) depend(in : x[0])
    for (int rank = 0; rank < ranks; ++rank)
        MPI_Send(x, 64, MPI_DOUBLE, rank, tags[rank], MPI_COMM_WORLD); // done: MPI_Send is bound to its task, which ends without waiting for it // missed: MPI_Send holds up the creator of its task: its peer, tag or communicator is not known before the task begins
}

/* Another task writes where the message comes from. */
struct envelope {
    int from, tag;
};
void told_by_another(double *x, struct envelope *make(void)) {
    struct envelope *known = 0;
#pragma omp task depend(out : known) shared(known)
    known = make();
#pragma omp task if (0) depend(in : known) depend(out : x[0]) shared(known)
    MPI_Recv(x, 64, MPI_DOUBLE, known->from, known->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is bound to its task, which ends without waiting for it // missed: MPI_Recv holds up the creator of its task: its peer, tag or communicator is not known before the task begins
}

/* Whoever waits for the buffer has to wait for the message. */
void only_read(double *x, int from) {
#pragma omp taskwait depend(in : x[0])
    MPI_Recv(x, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv does not become a task with its taskwait: it is received, and the taskwait names its buffer by `in` // missed: MPI_Recv is waited for where it stands: nothing is to be done before the function's end
}

void another_buffer(double *x, double *y, int to) {
#pragma omp taskwait depend(in : x[0])
    MPI_Send(y, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: its buffer is not what the taskwait names // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
}
