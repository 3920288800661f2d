/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 15.8.4 (atomic compare): minimum, maximum and compare-and-swap.
 */
#include "check.h"

int main(void) {
    int least = 1 << 20, most = -1, turn = 0, swaps = 0;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < 1000; ++i) {
        int value = i * 37 % 1000; // not const: GCC 14 takes no constant here
#pragma omp atomic compare
        if (value < least) {
            least = value;
        }
#pragma omp atomic compare
        most = most < value ? value : most;
    }
#pragma omp parallel for reduction(+ : swaps)
    for (int i = 0; i < 100; ++i) {
        int seen;
#pragma omp atomic compare capture
        {
            seen = turn;
            if (turn == 0) {
                turn = i + 1;
            }
        }
        swaps += seen == 0;
    }
    CHECK_EQ(least, 0);
    CHECK_EQ(most, 999);
    CHECK_EQ(swaps, 1);
    CHECK(turn >= 1 && turn <= 100);
    return 0;
}
