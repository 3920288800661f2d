// SPDX-License-Identifier: Apache-2.0
// Entry points of GCC's ABI that only older or newer compilers than ours emit, called as they
// would: target constructs as GCC 4.9 made them, and device routines that GCC 13 added to omp.h.
#include "check.h"
#include <string.h>

void GOMP_target(int, void (*)(void *), const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_target_data(int, const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_target_end_data(void);
void GOMP_target_update(int, const void *, size_t, void **, size_t *, unsigned char *);
void GOMP_teams(unsigned, unsigned);

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
    return 0;
}
