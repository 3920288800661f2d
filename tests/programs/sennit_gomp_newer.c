/* SPDX-License-Identifier: Apache-2.0
 * test:
 * Functions that code of GCC 13 and 14 calls, and older compilers do not: called by their names.
 */
#include "sennit_door.h"

/* `taskwait depend(inout : x) nowait`: tasks before and after it are in order, the creator is not.
 */
static void taskwait_without_waiting(void) {
    void (*nowait)(void **) = (void (*)(void **))door_symbol("GOMP_taskwait_depend_nowait");
    int x = 0;
    omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp parallel
#pragma omp single
    for (int round = 1; round <= 20; ++round) {
#pragma omp task detach(event) depend(out : x)
        {
        }
        void *depend[] = {(void *)(uintptr_t)1, (void *)(uintptr_t)1, &x};
        nowait(depend);
#pragma omp task depend(in : x) shared(x)
        ++x;
        CHECK_EQ(__atomic_load_n(&x, __ATOMIC_SEQ_CST),
                 round - 1); /* for the event is not fulfilled */
        omp_fulfill_event(event);
#pragma omp taskwait
        CHECK_EQ(x, round);
    }
}

/* Each pointer that was noted is one of an allocator, once. */
static void allocated_pointers(void) {
    void (*add)(void *) = (void (*)(void *))door_symbol("GOMP_add_alloc");
    _Bool (*is)(void *) = (_Bool(*)(void *))door_symbol("GOMP_is_alloc");
    enum { count = 2000 };
    static char cells[8][count];
#pragma omp parallel num_threads(8)
    {
        char *const own = cells[omp_get_thread_num()];
        for (int i = 0; i < count; i += 2)
            add(&own[i]);
        for (int i = count; i-- > 0;)
            CHECK_EQ(is(&own[i]), i % 2 == 0);
        for (int i = 0; i < count; ++i)
            CHECK(!is(&own[i]));
    }
    CHECK(!is(NULL));
}

int main(void) {
    taskwait_without_waiting();
    allocated_pointers();
    void *(*target)(void *) = (void *(*)(void *))door_symbol("GOMP_target_map_indirect_ptr");
    CHECK(target((void *)target) == (void *)target);
    return 0;
}
