/* SPDX-License-Identifier: Apache-2.0
 * test:
 * OpenMP 5.2, 15.8.4 (atomic): an integer variable with a floating-point operand and the reverse;
 * the conversions are those of the serial statement.
 */
#include "check.h"

int main(void) {
    int whole = 0;
    short narrow = 0;
    long long wide = 1;
    double real = 0;
    float single = 0;
#pragma omp parallel for
    for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
        whole += 1.75;
#pragma omp atomic
        narrow -= 1.0f;
#pragma omp atomic
        real += i % 3;
#pragma omp atomic
        single += 1LL;
        if (i < 40) {
#pragma omp atomic
            wide *= 2.0;
        }
    }
    CHECK_EQ(whole, 1000);
    CHECK_EQ(narrow, -1000);
    CHECK_EQ(wide, 1LL << 40);
    CHECK(real == 999);
    CHECK(single == 1000);
    return 0;
}
