/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -lpthread -ldl
 * test: # stock runtimes give up
 * OpenMP 5.2, 10.1.1: when the system has no more threads a region gets fewer than it asks for and
 * all constructs work; it gets all of those that there are, in every region.
 */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

enum { allowed = 2 };
static int made;

/* The runtime's calls come here too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *),
                   void *argument) {
    typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static create *real;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (made == allowed)
        return EAGAIN;
    made += 1;
    return real(thread, attributes, main, argument);
}

static void region(int asked) {
    int size = 0, sum = 0, chain = 0;
#pragma omp parallel num_threads(asked) reduction(+ : sum)
    {
#pragma omp single
        {
            size = omp_get_num_threads();
            for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
                chain += 1;
            }
        }
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < 100; ++i)
            sum += i;
    }
    CHECK_EQ(size, asked < 1 + allowed ? asked : 1 + allowed);
    CHECK_EQ(sum, 4950);
    CHECK_EQ(chain, 20);
}

int main(void) {
    omp_set_dynamic(0);
    for (int round = 0; round < 10; ++round)
        region(8);
    for (int asked = 1; asked < 12; ++asked)
        region(asked);
    region(2);
    region(8);
    return 0;
}
