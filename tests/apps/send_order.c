/* SPDX-License-Identifier: Apache-2.0
 *
 * Long sends leave in the order of their tasks. Rank 0's first send is created first, but something
 * has to be computed before; the others fill the card meanwhile. With an argument: it must overtake
 * the last of them; without: as it comes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { messages = 8, length = 1 << 14 };

static double data[messages][length];

static void send_all(void) {
    char computed = 0;
    (void)computed;
#pragma omp task depend(out : computed) shared(computed)
    computed = 1;
#pragma omp task depend(in : computed) priority(1)
    MPI_Send(data[0], length, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    for (int i = 1; i < messages; ++i) {
#pragma omp task depend(in : data[i][0]) firstprivate(i) priority(1)
        MPI_Send(data[i], length, MPI_DOUBLE, 1, i, MPI_COMM_WORLD);
    }
#pragma omp taskwait
}

int main(int argc, char **argv) {
    int provided = 0, rank = 0, place = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
#pragma omp parallel
#pragma omp single
        send_all();
    } else {
        for (int i = 0; i < messages; ++i) {
            MPI_Status status;
            MPI_Recv(data[0], length, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == 0)
                place = i;
        }
        printf("the first task's message was number %d\n", place + 1);
    }
    MPI_Finalize();
    return rank == 1 && (place < 0 || (argc > 1 && place == messages - 1));
}
