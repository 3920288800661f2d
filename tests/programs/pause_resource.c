// SPDX-License-Identifier: Apache-2.0
// test: # stock libomp keeps its threads, and what they have
// OpenMP 5.2, 18.6: after omp_pause_resource and omp_pause_resource_all the other threads are new
// ones, whose threadprivate variables have their first values; the initial thread keeps its own.
// Both refuse inside a parallel region.
#include "check.h"

static int mine = 128;
#pragma omp threadprivate(mine)

static void use(int base) {
#pragma omp parallel
    {
        CHECK_EQ(mine, omp_get_thread_num() == 0 ? mine : 128);
        mine = base + omp_get_thread_num();
    }
#pragma omp parallel
    CHECK_EQ(mine, base + omp_get_thread_num());
}

int main(void) {
    for (int round = 0; round < 10; ++round) {
        use(1000 + round);
        CHECK_EQ(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
        CHECK_EQ(mine, 1000 + round);
        use(2000 + round);
        CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
        mine = 128;
    }
    use(3000);
#pragma omp parallel
    {
        CHECK(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) != 0);
        CHECK(omp_pause_resource_all(omp_pause_hard) != 0);
    }
    CHECK(omp_pause_resource(omp_pause_soft, 77) != 0);
    return 0;
}
