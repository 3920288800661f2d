/* SPDX-License-Identifier: Apache-2.0
 * part: # own_runtime_test.py builds it
 * As a library: whose_runtime() computes with OpenMP and tells in which file its runtime lies. As a
 * program (-DPROGRAM) it prints that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

const char *whose_runtime(void);

const char *whose_runtime(void) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
    Dl_info info = {0};
    if (sum != 2 || !dladdr((void *)omp_get_max_threads, &info))
        return "wrong";
    return info.dli_fname;
}

#ifdef PROGRAM
int main(void) {
    puts(whose_runtime());
}
#endif
