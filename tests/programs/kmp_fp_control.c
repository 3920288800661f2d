/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=clang -- -lm
 * test:
 * test: variant=own threads=2 KMP_INHERIT_FP_CONTROL=0
 * LLVM's runtime hands the floating-point control of the thread that encounters a region to all
 * threads of the region, and restores it afterwards: KMP_INHERIT_FP_CONTROL, on by default.
 * Otherwise each thread keeps its own.
 */
#include "check.h"
#include <fenv.h>
#include <string.h>

static int in_mode(int rounding) {
    int count = 0;
#pragma omp parallel reduction(+ : count)
    count += fegetround() == rounding;
    return count;
}

int main(void) {
    const char *setting = getenv("KMP_INHERIT_FP_CONTROL");
    const int inherits = !setting || strcmp(setting, "0") != 0;
    const int threads = check_threads();
    CHECK_EQ(in_mode(FE_TONEAREST), threads);
    fesetround(FE_UPWARD);
    CHECK_EQ(in_mode(FE_UPWARD), inherits ? threads : 1);
#pragma omp parallel
    fesetround(FE_TOWARDZERO);
    CHECK_EQ(fegetround(), inherits ? FE_UPWARD : FE_TOWARDZERO);
    fesetround(FE_UPWARD);
#pragma omp parallel if (threads < 0)
    fesetround(FE_DOWNWARD);
    CHECK_EQ(fegetround(), inherits ? FE_UPWARD : FE_DOWNWARD);
    fesetround(FE_DOWNWARD);
    int deep = 0;
#pragma omp parallel num_threads(2) reduction(+ : deep)
    {
        fesetround(FE_UPWARD);
#pragma omp parallel num_threads(2) reduction(+ : deep)
        deep += fegetround() == FE_UPWARD;
    }
    if (inherits)
        CHECK_EQ(deep, 2);
    return 0;
}
