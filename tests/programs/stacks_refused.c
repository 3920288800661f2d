/* SPDX-License-Identifier: Apache-2.0
 * build: if="not sanitized"
 * test: OMP_STACKSIZE=8M
 * A process that has no address space left for the stacks of tasks that wait runs them on top of
 * each other, leaves room for the memory of tasks and for the program, and ends right
 * (OMP_STACKSIZE=8M makes few of them fit: two take a third of what is left).
 */
#include "limited_memory.h"
#include <sys/mman.h>

/* For a task that comes later, or the program's own memory, there is room, however many wait. */
static void room_is_left(void) {
    if (check_threads() > 2) /* each has some of it for its tasks */
        return;
    const size_t size = 20 << 20;
    static int looks; /* one thread at a time */
    if (__atomic_exchange_n(&looks, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    void *room = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(room != MAP_FAILED);
    munmap(room, size);
    __atomic_store_n(&looks, 0, __ATOMIC_RELEASE);
}

static int tree(int depth) {
    if (depth == 0)
        return 1;
    int left = 0, right = 0;
#pragma omp task shared(left)
    left = tree(depth - 1);
#pragma omp task shared(right)
    right = tree(depth - 1);
#pragma omp taskyield
#pragma omp taskwait
    return left + right;
}

int main(void) {
    int warm = 0;
#pragma omp parallel reduction(+ : warm)
    warm += 1;
    CHECK_EQ(warm, check_threads());
    limit_addresses(60 << 20);
    for (int round = 0; round < 5; ++round) {
        int leaves = 0, done = 0;
#pragma omp parallel
#pragma omp single
        {
            leaves = tree(10);
            for (int i = 0; i < 1000; ++i) {
#pragma omp task shared(done)
                {
#pragma omp taskyield
#pragma omp task shared(done)
                    {
#pragma omp taskyield
                        room_is_left();
#pragma omp atomic
                        done += 1;
                    }
#pragma omp taskwait
                }
            }
        }
        CHECK_EQ(leaves, 1024);
        CHECK_EQ(done, 1000);
    }
    return 0;
}
