/* SPDX-License-Identifier: Apache-2.0
 * test: shape=2x1 virtual=0 SENNIT_POLICY=fa
 * Calls that send without a send's name: fa has to learn that their tasks send, so that they go
 * before others. Tasks that only receive by the same or by like calls do not. One thread a rank
 * runs all: it creates others first, so that only a priority lets a task go before them.
 */
#include "check.h"

enum { others = 5, rounds = 3, length = 4 };

static int started, nth;
static int data[length], sum[length];
static MPI_Win window;
static MPI_Request persistent;

static void other(void) {
    ++started;
}

/* The task, behind others. `sends`: at this rank. */
#define ROUNDS(name, sends, ...)                                                                   \
    static void name(void) {                                                                       \
        for (int round = 0; round < rounds; ++round) {                                             \
            started = 0;                                                                           \
            nth = -1;                                                                              \
            MPI_Barrier(MPI_COMM_WORLD);                                                           \
            _Pragma("omp parallel num_threads(1)") {                                               \
                for (int i = 0; i < others; ++i) {                                                 \
                    _Pragma("omp task") other();                                                   \
                }                                                                                  \
                _Pragma("omp task") {                                                              \
                    nth = started;                                                                 \
                    __VA_ARGS__;                                                                   \
                }                                                                                  \
            }                                                                                      \
            if (round > 0)                                                                         \
                expect(#name, sends);                                                              \
        }                                                                                          \
    }

static void expect(const char *name, int sends) {
    if (nth == (sends ? 0 : others))
        return;
    fprintf(stderr, "%s at rank %d: after %d others\n", name, rank, nth);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

ROUNDS(computes, 0, ++sum[0])
ROUNDS(starts, rank == 0, {
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
})
ROUNDS(stores, 1, MPI_Put(data, length, MPI_INT, 1 - rank, 0, length, MPI_INT, window))
ROUNDS(accumulates, 1,
       MPI_Accumulate(data, length, MPI_INT, 1 - rank, 0, length, MPI_INT, MPI_SUM, window))
ROUNDS(gets_and_accumulates, 1,
       MPI_Get_accumulate(data, length, MPI_INT, sum, length, MPI_INT, 1 - rank, 0, length, MPI_INT,
                          MPI_SUM, window))
ROUNDS(fetches, 1, MPI_Fetch_and_op(data, sum, MPI_INT, 1 - rank, 0, MPI_SUM, window))
ROUNDS(swaps, 1, MPI_Compare_and_swap(data, data + 1, sum, MPI_INT, 1 - rank, 0, window))
ROUNDS(flushes, 1, MPI_Win_flush(1 - rank, window))
ROUNDS(gets, 0, MPI_Get(sum, length, MPI_INT, 1 - rank, 0, length, MPI_INT, window))
ROUNDS(requests_put, 1, {
    MPI_Request request;
    MPI_Rput(data, length, MPI_INT, 1 - rank, 0, length, MPI_INT, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
})
ROUNDS(broadcasts, rank == 0, MPI_Bcast(data, length, MPI_INT, 0, MPI_COMM_WORLD))
ROUNDS(requests_broadcast, rank == 0, {
    MPI_Request request;
    MPI_Ibcast(data, length, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
})
ROUNDS(reduces, rank != 0, MPI_Reduce(data, sum, length, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD))
ROUNDS(meets, 0, MPI_Barrier(MPI_COMM_WORLD))

#if MPI_VERSION >= 4
static MPI_Request parted;
ROUNDS(sends_parts, 1, {
    MPI_Start(&parted);
    MPI_Pready(0, parted);
    MPI_Wait(&parted, MPI_STATUS_IGNORE);
})
ROUNDS(receives_parts, 0, {
    MPI_Start(&parted);
    MPI_Wait(&parted, MPI_STATUS_IGNORE);
})
#endif

int main(int argc, char **argv) {
    begin(&argc, &argv);
    computes();
    if (rank == 0)
        MPI_Send_init(data, length, MPI_INT, 1, 0, MPI_COMM_WORLD, &persistent);
    else
        MPI_Recv_init(data, length, MPI_INT, 0, 0, MPI_COMM_WORLD, &persistent);
    starts();
    MPI_Request_free(&persistent);

    int *memory;
    MPI_Win_allocate(sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    stores();
    accumulates();
    gets_and_accumulates();
    fetches();
    swaps();
    flushes();
    gets();
    requests_put();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);

    broadcasts();
    requests_broadcast();
    reduces();
    meets();
#if MPI_VERSION >= 4
    if (rank == 0)
        MPI_Psend_init(data, 1, length, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &parted);
    else
        MPI_Precv_init(data, 1, length, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &parted);
    if (rank == 0)
        sends_parts();
    else
        receives_parts();
    MPI_Request_free(&parted);
#endif
    MPI_Finalize();
    return 0;
}
