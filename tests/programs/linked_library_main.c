/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- {bin}/{compiler}/late_load_part
 * run: omp.linked_library.{compiler}.t{threads}
 * run: omp.preloaded.constructor.{compiler} threads=2 LD_LIBRARY_PATH= LD_PRELOAD={own_name}
 * A program without OpenMP of its own: only a library that it needs uses OpenMP. So libc comes
 * before the OpenMP runtime in the loader's order.
 */
#include <stdio.h>

int late_compute(int threads);

int main(void) {
    const int sum = late_compute(4);
    if (sum != 4970)
        fprintf(stderr, "linked_library_main: %d\n", sum);
    return sum != 4970;
}
