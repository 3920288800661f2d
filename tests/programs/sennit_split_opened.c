/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized" -fPIC -- -ldl
 * run: omp.{program}.{compiler} threads=2 SENNIT_SPLIT=4 -- {bin}/gcc/plain_part
 *     {bin}/gcc/thread_local_part
 * run: omp.{program}.says.{compiler} threads=2 SENNIT_SPLIT=4
 *     pass='^sennit: SENNIT_SPLIT=4: [^\n]*''/thread_local_part has thread-local data, [^\n]*
 *     going on with 1\n$'
 *     -- {bin}/gcc/plain_part {bin}/gcc/thread_local_part
 *
 * sennit_split_opened.c PLAIN WITH-THREAD-LOCAL-DATA - threads that are split share workers until
 * the program opens a library whose thread-local data they would share, too. From then on each
 * thread has its own, and regions that ask for no number of threads have the environment's.
 */
#include "check.h"

#include <dlfcn.h>
#include <sys/syscall.h>

enum { kMost = 64 };

static long g_who[kMost];
static int g_counts[kMost];

static int distinct(int threads) {
    int found = 0;
    for (int i = 0; i < threads; ++i) {
        int first = 1;
        for (int k = 0; k < i; ++k)
            first &= g_who[k] != g_who[i];
        found += first;
    }
    return found;
}

static int (*opened(const char *path))(void) {
    void *library = dlopen(path, RTLD_NOW);
    int (*count)(void) = NULL;
    if (library)
        *(void **)&count = dlsym(library, "count_calls");
    CHECK(count != NULL);
    return count;
}

static int region(int (*count)(void)) {
    int threads = 0;
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        g_who[me] = syscall(SYS_gettid);
        g_counts[me] = count();
#pragma omp barrier
        if (me == 0)
            threads = omp_get_num_threads();
    }
    return threads;
}

int main(int argc, char **argv) {
    CHECK_EQ(argc, 3);
    const int workers = atoi(getenv("OMP_NUM_THREADS"));
    const int all = workers * atoi(getenv("SENNIT_SPLIT"));
    CHECK_EQ(omp_get_max_threads(), all);
    for (int i = 0; i < 3; ++i) {
        CHECK_EQ(region(i == 0 ? opened(argv[1]) : omp_get_num_threads), all);
        CHECK(distinct(all) <= workers);
    }
    int (*const count)(void) = opened(argv[2]);
    /* The number is known before the library is found: that many threads there are, each for
     * itself. */
    CHECK_EQ(region(count), all);
    CHECK_EQ(distinct(all), all);
    for (int i = 0; i < all; ++i)
        CHECK_EQ(g_counts[i], 1);
    CHECK_EQ(omp_get_max_threads(), workers);
    CHECK_EQ(region(count), workers);
    CHECK_EQ(distinct(workers), workers);
#pragma omp parallel num_threads(all)
    CHECK_EQ(omp_get_num_threads(), all);
    return 0;
}
