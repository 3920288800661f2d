/* SPDX-License-Identifier: Apache-2.0
 * simple: out={bin}/mixed/mixed_main.{compiler} if="clang and not sanitized" -- {group('mixed')}
 *     -Wl,--no-as-needed -l:libgomp.so.1 -l:libomp.so.5
 * run: omp.mixed_main.{compiler}.t{threads} exe={bin}/mixed/mixed_main.{compiler}
 * One executable of objects that GCC and Clang compiled: teams and tasks of both ABIs share one
 * runtime, so ICVs, locks, dependences and nesting levels are common. mixed_part.c is the other
 * half, built by each compiler under its own names.
 */
#include "check.h"

#define PART(compiler)                                                                             \
    long compiler##_sum(int n);                                                                    \
    void compiler##_chain(int *x, int n);                                                          \
    int compiler##_level(void);
PART(gcc)
PART(clang)

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    CHECK_EQ(gcc_sum(100), 4950);
    CHECK_EQ(clang_sum(100), 4950);
    for (int round = 0; round < 10; ++round) {
        int x = 0;
#pragma omp parallel
        {
            CHECK_EQ(gcc_level(), 1);
            CHECK_EQ(clang_level(), 1);
#pragma omp single
            {
                gcc_chain(&x, 20);
                clang_chain(&x, 20);
#pragma omp taskwait
            }
            CHECK_EQ(gcc_sum(50), 1225);
            CHECK_EQ(clang_sum(50), 1225);
        }
        CHECK_EQ(x, 40);
    }
    return 0;
}
