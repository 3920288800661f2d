// SPDX-License-Identifier: Apache-2.0
// C++: destructors and exceptions behind the call.
#include <mpi.h>

double *blocks[16];
struct Buffer {
    double *data;
    Buffer();
    ~Buffer();
};
struct Refused {};

void destructor(int from) {
#pragma omp task
    {
        Buffer buffer;
        MPI_Recv(buffer.data, 8, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // missed: MPI_Recv suspends its task: its buffer may be the task's own memory, whose address others know
    }
}

void deleted(int to) {
#pragma omp task
    {
        auto *data = new double[64]();
        MPI_Send(data, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: it is followed by a call of operator delete[](void*) (line +1)
        delete[] data;
    }
}

void thrown(int to, bool bad) {
    double *x = blocks[0];
#pragma omp task depend(in : x[0])
    try {
        MPI_Send(x, 64, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); // missed: MPI_Send suspends its task: it is followed by a call of __cxa_allocate_exception (line +2)
        if (bad)
            throw Refused();
    } catch (const Refused &) {
    }
}
