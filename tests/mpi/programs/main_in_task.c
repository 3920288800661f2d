/* SPDX-License-Identifier: Apache-2.0
 * part: # upstream.py builds it
 * Preloaded into a program that knows nothing of OpenMP: its main runs inside a task, so every call
 * of MPI that it makes is one that suspends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

typedef int main_function(int, char **, char **);
static main_function *program;

static int main_in_task(int argc, char **argv, char **environment) {
    int status = EXIT_FAILURE;
#pragma omp parallel num_threads(1)
#pragma omp single
#pragma omp task shared(status)
    status = program(argc, argv, environment);
    return status;
}

/* glibc's, which calls main. */
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
    __typeof__(__libc_start_main) *start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return start(main_in_task, argc, argv, init, fini, rtld_fini, stack_end);
}
