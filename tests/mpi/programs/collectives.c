/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=all
 * test: shape=1x1|2x1|2x2|4x1 sample="shape == '2x2'"
 * chaos: number=4
 * bells: number=43
 * network, lending, split, in_world:
 * Every blocking collective inside a task, many at a time, each task on a communicator of its own.
 */
#include "collective_cases.h"

enum { rounds = 3 };
static MPI_Comm comm_of[64];

int main(int argc, char **argv) {
    begin(&argc, &argv);
    prepare();
    for (int i = 0; i < collectives; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[i]);
    for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
#pragma omp single
        /* Each rank creates them in another order: with one thread a blocking call would deadlock.
         */
        for (int i = 0; i < collectives; ++i) {
            const int which = (i + 5 * rank + round) % collectives;
#pragma omp task
            run(which, comm_of[which]);
        }
    }
    for (int i = 0; i < collectives; ++i)
        MPI_Comm_free(&comm_of[i]);
    MPI_Finalize();
    return 0;
}
