/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- -ldl
 * run: omp.late_environment.{compiler} threads=2 -- {bin}/{compiler}/late_environment_part
 * run: omp.late_environment.preloaded.{compiler} threads=2 LD_PRELOAD={own_name} --
 *     {bin}/{compiler}/late_environment_part
 * A program without OpenMP that sets OMP_ variables and then opens a library with it, as a Python
 * script does that sets os.environ: the variables count, wherever Sennit's library was before.
 * late_environment_main LIBRARY
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
    char seen[200] = "";
    setenv("OMP_NUM_THREADS", "5", 1);
    setenv("OMP_SCHEDULE", "guided", 1);
    void *library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*see)(char *, int) = library ? (void (*)(char *, int))dlsym(library, "see") : NULL;
    if (!see) {
        fprintf(stderr, "late_environment_main: %s\n", dlerror());
        return 1;
    }
    see(seen, sizeof seen);
    if (strcmp(seen, "5 threads, 5 in a region, schedule 3") != 0) {
        fprintf(stderr, "late_environment_main: seen: %s\n", seen);
        return 1;
    }
    return 0;
}
