// SPDX-License-Identifier: Apache-2.0
// build: compiler=gcc
// test:
// Entry points of GCC's ABI that only older or newer compilers than ours emit, called as they
// would: target constructs as GCC 4.9 made them, and device routines that GCC 13 added to omp.h.
#include "check.h"
#include <string.h>

void GOMP_target(int, void (*)(void *), const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_target_data(int, const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_target_end_data(void);
void GOMP_target_update(int, const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_teams(unsigned, unsigned);

// Not in GCC 12's libgomp.
#define NEWER __attribute__((weak))
NEWER int omp_target_is_accessible(const void *, size_t, int);
NEWER void *omp_get_mapped_ptr(const void *, int);
NEWER int omp_target_memcpy_async(void *, const void *, size_t, size_t, size_t, int, int, int,
                                  omp_depend_t *);
NEWER int omp_target_memcpy_rect_async(void *, const void *, size_t, int, const size_t *,
                                       const size_t *, const size_t *, const size_t *,
                                       const size_t *, int, int, int, omp_depend_t *);

static void device_routines(void) {
    int from[4] = {1, 2, 3, 4}, into[4] = {0}, x = 0;
    CHECK(omp_target_is_accessible(from, sizeof from, 0));
    CHECK(!omp_target_is_accessible(from, sizeof from, 5));
    CHECK(omp_get_mapped_ptr(from, 0) == from);
    CHECK(omp_get_mapped_ptr(from, 5) == NULL);
    omp_event_handle_t event = 0;
    omp_depend_t after, reads;
    (void)x;
#pragma omp depobj(after) depend(inout : x)
#pragma omp depobj(reads) depend(in : x)
#pragma omp parallel
#pragma omp single
    {
#pragma omp task detach(event) depend(out : x)
        (void)event;
        CHECK_EQ(omp_target_memcpy_async(into, from, 8, 0, 8, 0, 0, 1, &after), 0);
        {
            const size_t volume[] = {1, 1}, to[] = {1, 1}, at[] = {0, 0}, all[] = {2, 2};
            CHECK_EQ(omp_target_memcpy_rect_async(into, from, sizeof(int), 2, volume, to, at, all,
                                                  all, 0, 0, 1, &reads),
                     0);
        }
        CHECK_EQ(into[0], 0); // both wait
        from[3] = 40;
        from[0] = 10;
        omp_fulfill_event(event);
#pragma omp taskwait
        CHECK_EQ(into[0], 3);
        CHECK_EQ(into[1], 40);
        CHECK_EQ(into[2], 0);
        CHECK_EQ(into[3], 10);
        CHECK(omp_target_memcpy_async(into, from, 8, 0, 0, 0, 5, 0, NULL) != 0);
#pragma omp taskwait
    }
#pragma omp depobj(after) destroy
#pragma omp depobj(reads) destroy
}

static void region(void *data) {
    int *number = *(int **)data;
    GOMP_teams(1, 2);
    *number += omp_get_thread_limit();
}

int main(void) {
    int number = 40;
    void *items[] = {&number};
    size_t sizes[] = {sizeof number};
    unsigned char kinds[] = {3}; // tofrom
    GOMP_target_data(-1, NULL, 1, items, sizes, kinds);
    GOMP_target(-1, region, NULL, 1, items, sizes, kinds);
    GOMP_target_update(-1, NULL, 1, items, sizes, kinds);
    GOMP_target_end_data();
    CHECK_EQ(number, 42);
    if (omp_target_memcpy_async != NULL)
        device_routines();
    return 0;
}
