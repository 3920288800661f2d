/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc if="SENNIT_VALGRIND and not sanitized and not debug"
 *     -- {bin}/cuda/libcudart.so.12 -Wl,-rpath,{bin}/cuda
 * What a wait for an idle stream costs outside of tasks, after a region. lock_cost.py counts. */
#include "../mpi/programs/counting.c"
#include "accelerator.h"
#include "check.h"

enum { calls = 1000 };

int main(void) {
#pragma omp parallel
    omp_get_thread_num();
    CHECK_EQ(CALL(StreamSynchronize)(LEGACY), success); /* the dynamic linker is not counted */
    start_counting();
    for (int i = 0; i < calls; ++i)
        CALL(StreamSynchronize)(LEGACY);
    stop_counting();
    printf("calls=%d\n", calls);
    return 0;
}
