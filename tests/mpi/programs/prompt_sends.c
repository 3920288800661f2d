/* SPDX-License-Identifier: Apache-2.0
 * One rank sends messages one after the other to a rank that waits for each. Some MPI libraries end
 * a send only when the receiver has taken the message. Then the sender sleeps meanwhile, and has to
 * be rung. If nobody rings, each message takes the nap of a timer.
 *
 * A busy machine may disturb some batches of messages, but not all of them: of one length the best
 * batch counts, and as soon as one is fast no more are sent.
 */
#include "check.h"

#include <mpi.h>
#include <stdio.h>

enum { longest = 100000, messages = 20, batches = 1000 };
static const double nap = 1e-3;   /* seconds: the shortest */
static const double limit = 30.0; /* seconds, for one length */

static char buffer[longest];

static double batch(int rank, int length) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < messages; ++i) {
        if (rank == 0)
            MPI_Send(buffer, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(buffer, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double took = MPI_Wtime() - begin;
    MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return took;
}

int main(int argc, char **argv) {
    static const int lengths[] = {0, 8, 200, 257, 400, 1000, 2000, 2048, 3000, 4000, 5000, 8000, 20000, longest};
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
        double best = limit, all = 0;
        for (int done = 0; done < batches && all < limit && best > messages * nap / 4; ++done) {
            const double took = batch(rank, lengths[i]);
            best = took < best ? took : best;
            all += took;
        }
        if (best > messages * nap / 4)
            fprintf(stderr, "%d bytes: %.0f us a message\n", lengths[i], best / messages * 1e6);
        CHECK(best <= messages * nap / 4);
    }
    if (rank == 0)
        printf("prompt\n");
    MPI_Finalize();
    return 0;
}
