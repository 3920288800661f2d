/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- {bin}/{compiler}/late_environment_part
 * run: omp.preloaded.{compiler} threads=2 LD_PRELOAD={own_name}
 *     WANTED="{sees_gcc if compiler == 'gcc' else sees_clang}"
 * run: omp.preloaded.stock.{compiler} threads=2 LD_PRELOAD={own_name} LD_LIBRARY_PATH=
 *     WANTED="{sees_gcc if compiler == 'gcc' else sees_clang}" # the stock runtime is loaded, too:
 *     the loader starts Sennit's library after those that need it
 * A program without OpenMP of its own; a library that it needs uses OpenMP. Where Sennit's library
 * is preloaded, it still chooses as the stock runtime that the library was built for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void see(char *text, int size);

int main(void) {
    char seen[200] = "";
    setenv("OMP_NUM_THREADS", "5", 1); /* GCC's runtime has read it before main() */
    see(seen, sizeof seen);
    const char *wanted = getenv("WANTED");
    if (wanted && strcmp(seen, wanted) == 0)
        return 0;
    fprintf(stderr, "preloaded_main: seen: %s\n", seen);
    return 1;
}
