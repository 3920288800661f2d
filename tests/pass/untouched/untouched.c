/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions with messages of which none can be started earlier than it is waited for: they come out
 * as they are without the plug-in. All memory that MPI gets is global, so that it makes no
 * difference what MPI's declarations say of pointers.
 */
#include <mpi.h>

void unknown(void);

double buffers[100][1000], field[1000], next[1000];
static int rounds;

void in_a_loop(int count) {
    for (int i = 0; i < count; ++i) {
        MPI_Recv(buffers[i], 1000, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        unknown();
        ++rounds;
    }
}

/* The next index is computed on either way to the next round: the plug-in joins the two. */
void two_ways(int to) {
    MPI_Send(buffers[0], 1000, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    unknown();
    for (int i = 1; i < 999; ++i) {
        next[i] = field[i - 1] + field[i + 1];
        if (next[i] < 0)
            unknown();
    }
}

/* Several ways back and out. */
void many_ways(int count) {
    int i = 0;
    while (i < count) {
        if (MPI_Recv(buffers[i], 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
            return;
        ++i;
        if (rounds == i)
            continue;
        if (buffers[i][0] > 1)
            break;
        unknown();
    }
}

void in_a_row(void) {
    MPI_Send(buffers[0], 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    unknown();
    MPI_Ssend(buffers[1], 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    unknown();
    MPI_Recv(buffers[2], 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
