/* SPDX-License-Identifier: Apache-2.0
 * Where enough tasks wait for a thread, their creator calls those that only compute, as the marks
 * tell, although others suspend in MPI: they run on its stack. What may wait does not.
 */
// suspensions: 0
#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 3000, NEAR = 1 << 14 };
static uintptr_t frames[TASKS];

static void nothing(void) {
}
static void (*volatile unknown)(void) = nothing;

/* Has it run when its creator goes on, and on its stack? */
static int was_called(int task, uintptr_t creator) {
    const uintptr_t frame = *(volatile uintptr_t *)&frames[task];
    frames[task] = 0;
    return frame != 0 && creator - frame < NEAR;
}

int main(int argc, char **argv) {
    int provided, in_place = 0, waiting_in_place = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#pragma omp parallel
#pragma omp single
    {
        const uintptr_t creator = (uintptr_t)__builtin_frame_address(0);
        for (int i = 0; i < TASKS; ++i) {
#pragma omp task
            frames[i] = (uintptr_t)__builtin_frame_address(0);
            in_place += was_called(i, creator);
        }
#pragma omp taskwait
        for (int i = 0; i < TASKS; ++i)
            frames[i] = 0;
        for (int i = 0; i < TASKS; ++i) {
#pragma omp task
            {
                unknown();
                frames[i] = (uintptr_t)__builtin_frame_address(0);
            }
            waiting_in_place += was_called(i, creator);
        }
    }
    MPI_Finalize();
    if (waiting_in_place > 0 || (in_place == 0 && omp_get_max_threads() == 1)) {
        printf("in place: %d of those that compute, %d of others\n", in_place, waiting_in_place);
        return 1;
    }
    return 0;
}
