/* SPDX-License-Identifier: Apache-2.0
 * Calls that their tasks have to wait for. */
#include <mpi.h>
#include <setjmp.h>
#include <stdatomic.h>

extern double *blocks[16];
extern double *shown;
double whole[64];
extern atomic_int arrived;
extern volatile int seen;
extern jmp_buf out_of_here;
extern MPI_Status kept;
void touch(void);
static _Thread_local double own[8];

void status_read(int from, int *length) {
#pragma omp task depend(out : whole)
    {
        MPI_Status status;
        MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &status); // missed: MPI_Recv of whole suspends its task: its status is used by a read (line +1)
        *length = status.MPI_TAG;
    }
}

void status_kept(int from) {
#pragma omp task depend(out : whole)
    MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &kept); // missed: MPI_Recv of whole suspends its task: its status is kept
}

void any_source(int *source) {
#pragma omp task depend(out : whole)
    {
        MPI_Status status;
        MPI_Recv(whole, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); // missed: MPI_Recv of whole suspends its task: its status is used by a read (line +1)
        *source = status.MPI_SOURCE;
    }
}

void error_used(int from, int *error) {
#pragma omp task depend(out : whole)
    *error = MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of whole suspends its task: its error code is used
}

void on_the_stack(int to) {
#pragma omp task
    {
        int numbers[4] = {1, 2, 3, to};
        MPI_Send(numbers, 4, MPI_INT, to, 0, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: its buffer is on the task's stack
    }
}

void private_copy(int to, double value) {
#pragma omp task firstprivate(value)
    MPI_Send(&value, 1, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: its buffer is a private copy of the task's
}

void of_a_thread(int to) {
#pragma omp task
    MPI_Send(own, 8, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of own suspends its task: its buffer belongs to a thread
}

void shown_before(int to) {
#pragma omp task
    {
        double mine[4] = {1, 2, 3, 4};
        shown = mine;
        touch();
        MPI_Send(shown, 4, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: its buffer may be the task's own memory, whose address others know
    }
}

void absolute(int from, MPI_Datatype type) {
#pragma omp task
    MPI_Recv(MPI_BOTTOM, 1, type, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv suspends its task: its buffer is given by absolute addresses
}

void atomic_after(int from) {
#pragma omp task depend(out : whole)
    {
        MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of whole suspends its task: it is followed by an atomic operation (line +1)
        atomic_fetch_add(&arrived, 1);
    }
}

void volatile_after(int to) {
#pragma omp task depend(in : whole)
    {
        MPI_Send(whole, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of whole suspends its task: it is followed by a write of seen (line +1)
        seen = 1;
    }
}

void call_after(int to) {
#pragma omp task depend(in : whole)
    {
        MPI_Send(whole, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of whole suspends its task: it is followed by a call of touch (line +1)
        touch();
    }
}

void longjmp_after(int to) {
#pragma omp task depend(in : whole)
    {
        MPI_Send(whole, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send of whole suspends its task: it is followed by a call of longjmp (line +1)
        longjmp(out_of_here, 1);
    }
}

void buffer_read(int from, double *sum) {
#pragma omp task depend(out : whole)
    {
        MPI_Recv(whole, 64, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of whole suspends its task: its buffer may be touched by a read of whole (line +1)
        *sum = whole[0];
    }
}

void buffer_written(int to) {
    double *x = blocks[0];
#pragma omp task depend(inout : x[0])
    {
        MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: its buffer may be touched by a write (line +1)
        x[0] = 0;
    }
}

void receive_then_send(int other) {
    static double in[8], out[8];
#pragma omp task depend(in : out) depend(out : in)
    {
        MPI_Recv(in, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv of in suspends its task: its arrival may be what allows a call of MPI_Send (line +1)
        MPI_Send(out, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD); // done: MPI_Send of out is bound to its task, which ends without waiting for it
    }
}

void synchronous_then_receive(int other) {
    static double in[8], out[8];
#pragma omp task depend(in : out) depend(out : in)
    {
        MPI_Ssend(out, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD); // missed: MPI_Ssend of out suspends its task: a synchronous send is not crossed: it is followed by a call of MPI_Send (line +1)
        MPI_Send(in, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD); // done: MPI_Send of in is bound to its task, which ends without waiting for it
    }
}

void receive_then_receive(int from) {
    double *x = blocks[0], *y = blocks[1];
#pragma omp task depend(out : x[0], y[0])
    {
        MPI_Recv(x, 8, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv suspends its task: its arrival may be what allows a call of MPI_Recv (line +1)
        MPI_Recv(y, 8, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is bound to its task, which ends without waiting for it
    }
}

void may_overlap(int other) {
    double *x = blocks[0], *y = blocks[1];
#pragma omp task depend(in : x[0]) depend(out : y[0])
    {
        MPI_Send(x, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: its buffer may overlap that of a call of MPI_Recv (line +1)
        MPI_Recv(y, 8, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // done: MPI_Recv is bound to its task, which ends without waiting for it
    }
}
