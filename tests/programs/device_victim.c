// SPDX-License-Identifier: Apache-2.0
// build:
// The program that bad_input.py runs with and without OMP_TARGET_OFFLOAD=mandatory: a target region
// on the host, where it may always run, and one on a device that is not there.
#include "check.h"

int main(void) {
    for (int device = 0; device < 2; ++device) {
#pragma omp target device(device)
        puts("host");
        fflush(stdout);
    }
    return 0;
}
