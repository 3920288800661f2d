/* SPDX-License-Identifier: Apache-2.0
 * build: -- -lpthread
 * test, tool: # stock libomp crashes at times
 * OpenMP 5.2, 1.3 and 18: threads that the user makes each are an initial thread with its own
 * parallel regions, teams, ICVs and threadprivate copies, concurrently; they come and go.
 */
#include "check.h"
#include <pthread.h>

static int own;
#pragma omp threadprivate(own)

static void *user(void *argument) {
    const int id = (int)(intptr_t)argument, size = 1 + id % 4;
    omp_set_num_threads(size);
    own = id;
    for (int round = 0; round < 20; ++round) {
        long sum = 0;
        int chain = 0;
        CHECK_EQ(omp_get_max_threads(), size);
        CHECK_EQ(omp_get_level(), 0);
#pragma omp parallel copyin(own) reduction(+ : sum)
        {
            CHECK_EQ(own, id);
            CHECK_EQ(omp_get_num_threads(), size);
#pragma omp for schedule(dynamic, 3)
            for (int i = 0; i < 100; ++i)
                sum += i;
#pragma omp single
            for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
                chain += 1;
            }
        }
        CHECK_EQ(sum, 4950);
        CHECK_EQ(chain, 20);
    }
    return NULL;
}

int main(void) {
    omp_set_dynamic(0);
    for (int wave = 0; wave < 3; ++wave) {
        pthread_t threads[6];
        for (intptr_t id = 0; id < 6; ++id)
            CHECK_EQ(pthread_create(&threads[id], NULL, user, (void *)id), 0);
        user((void *)6);
        for (int id = 0; id < 6; ++id)
            CHECK_EQ(pthread_join(threads[id], NULL), 0);
    }
    return 0;
}
