/* SPDX-License-Identifier: Apache-2.0
 * cost: compile='{mpicc} -std=c11 -Wall -Wextra -Werror -O1 -g {with_omp}'
 * What calls outside of tasks cost: round trips to oneself, counted by callgrind between the two
 * requests (outside_cost.py). Without -fopenmp there is no task runtime; with it the program has
 * had tasks, and calls MPI outside of them. */
#include "check.h"
#include "counting.h"

enum { TRIPS = 1000, WARM_UP = 100 };

/* Six calls: the receive waits, then the send does not find anybody waiting. */
static void round_trips(int count) {
    int out[2] = {0, 1}, in[2] = {-1, -1};
    MPI_Request request;
    for (int i = 0; i < count; ++i) {
        out[0] = i;
        MPI_Irecv(in, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
        MPI_Send(out, 2, MPI_INT, 0, 1, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Isend(in, 2, MPI_INT, 0, 2, MPI_COMM_SELF, &request);
        MPI_Recv(out, 2, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in[0] == i && out[0] == i);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
#ifdef _OPENMP
    int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 8; ++i) {
#pragma omp task shared(sum)
        {
            int in = -1;
            MPI_Sendrecv(&i, 1, MPI_INT, 0, i, &in, 1, MPI_INT, 0, i, MPI_COMM_SELF,
                         MPI_STATUS_IGNORE);
#pragma omp atomic
            sum += in;
        }
    }
    CHECK(sum == 28);
#endif
    round_trips(WARM_UP);
    start_counting();
    round_trips(TRIPS);
    stop_counting();
    printf("calls=%d\n", 6 * TRIPS);
    MPI_Finalize();
    return 0;
}
