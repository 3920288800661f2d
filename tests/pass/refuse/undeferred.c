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

/* Whoever comes to no call behind the taskwait may need it. */
double sends_and_looks(double *x, int me, int to) {
#pragma omp taskwait depend(in : x[0])
    if (me != to)
        MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: behind it is a read (line +1), which needs the taskwait, too // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
    return x[3];
}

void works_in_a_branch(double *x, int me, int to) {
#pragma omp taskwait depend(in : x[0])
    if (me != to) {
        touch(x);
        MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a call of touch (line -1) // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
    }
}

void sends_own(int me, int to) {
    double own[64];
#pragma omp task depend(out : own[0]) shared(own)
    touch(own);
#pragma omp taskwait depend(in : own[0])
    if (me != to)
        MPI_Send(own, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: behind it is a variable that begins or ends there (line +1), which needs the taskwait, too // missed: MPI_Send is waited for where it stands: nothing is to be done before a variable that begins or ends there (line +1)
}

void receives_all(double *x, int from, int number) {
#pragma omp taskwait depend(out : x[0])
    for (int i = 0; i < number; ++i)
        MPI_Recv(x, 64, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv does not become a task with its taskwait: behind it is another message of the taskwait's // missed: the receives of this loop are waited for one by one: each round receives into the same memory
}

void without_taskwait(double *x, int me, int to) {
    if (me != to) {
#pragma omp taskwait depend(in : x[0])
    }
    MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: not all that leads to it goes through the taskwait // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
}

/* What a task may write is read when the taskwait is over. */
extern int others;
void written_elsewhere(double *x) {
#pragma omp taskwait depend(in : x[0])
    MPI_Send(x, 64, MPI_DOUBLE, others, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read of others (line +0), which a task may have written // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
}

void behind_a_pointer(double *x, const int *to) {
#pragma omp taskwait depend(in : x[0])
    MPI_Send(x, 64, MPI_DOUBLE, *to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read (line +0), which a task may have written // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
}

void works_in_between(double *x, int to) {
#pragma omp taskwait depend(in : x[0])
    touch(x);
    MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a call of touch (line -1) // missed: MPI_Send is waited for where it stands: nothing is to be done before the function's end
}

static int by_task, by_thread, by_function, by_address;
extern int *known_to_others;
__attribute__((noinline)) static void find(int *peer) {
    *peer = by_function++;
}
int main(void) {
    int shared_by_task = 0, shared_by_thread = 0, found = 0;
    by_task = by_thread = by_function = others;
    known_to_others = &by_address;
#pragma omp parallel
    {
#pragma omp masked
        by_thread = others;
#pragma omp critical
        shared_by_thread += others;
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 16; ++i) {
            double *x = blocks[i];
#pragma omp task depend(out : x[0])
            {
                by_task = shared_by_task = i;
                find(&found);
            }
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, 64, MPI_DOUBLE, by_task, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read of by_task (line +0), which a task may have written // missed: the sends of this loop are waited for one by one: a call of __kmpc_omp_task_alloc (line -6)
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, 64, MPI_DOUBLE, by_thread, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read of by_thread (line +0), which a task may have written
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, 64, MPI_DOUBLE, by_function, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read of by_function (line +0), which a task may have written
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, 64, MPI_DOUBLE, by_address, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read of by_address (line +0), which a task may have written
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, 64, MPI_DOUBLE, shared_by_task, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read (line +0), which a task may have written
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, 64, MPI_DOUBLE, shared_by_thread, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read (line +0), which a task may have written
#pragma omp taskwait depend(in : x[0])
            MPI_Send(x, 64, MPI_DOUBLE, found, 0, MPI_COMM_WORLD); // missed: MPI_Send does not become a task with its taskwait: the taskwait is followed by a read (line +0), which a task may have written
        }
    }
    return 0;
}
