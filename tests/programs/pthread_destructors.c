/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -- -lpthread
 * test, tool: # stock libomp crashes
 * OpenMP in the last moments of a thread that the user made: in destructors of thread-specific
 * data, which run after the runtime's own; and the thread ends with a team that is still warm.
 */
#include "check.h"
#include <pthread.h>

static pthread_key_t early, late;
static int destroyed;

static void region(void) {
    int sum = 0, chain = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
        sum += omp_get_thread_num();
#pragma omp single
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
            chain += 1;
        }
    }
    CHECK_EQ(sum, 3);
    CHECK_EQ(chain, 10);
}

static void destroy(void *value) {
    region();
#pragma omp atomic
    destroyed += 1;
    const intptr_t rounds = (intptr_t)value;
    if (rounds > 1) /* once more, after the other destructors */
        pthread_setspecific(late, (void *)(rounds - 1));
}

static void *user(void *unused) {
    (void)unused;
    pthread_setspecific(early, (void *)1);
    region();
    pthread_setspecific(late, (void *)3);
    return NULL;
}

int main(void) {
    omp_set_dynamic(0);
    CHECK_EQ(pthread_key_create(&early, destroy), 0);
    region();
    CHECK_EQ(pthread_key_create(&late, destroy), 0);
    enum { waves = 5, users = 4 };
    for (int wave = 0; wave < waves; ++wave) {
        pthread_t threads[users];
        for (int i = 0; i < users; ++i)
            CHECK_EQ(pthread_create(&threads[i], NULL, user, NULL), 0);
        for (int i = 0; i < users; ++i)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    CHECK_EQ(destroyed, waves * users * 4);
    region();
    return 0;
}
