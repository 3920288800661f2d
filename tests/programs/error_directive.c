// SPDX-License-Identifier: Apache-2.0
// build:
// OpenMP 5.2, 8.5: error at(execution) says its message; with severity(warning) the program goes
// on, with fatal it ends. bad_input.py looks at what is said.
#include "check.h"

int main(void) {
#pragma omp error at(execution) severity(warning) message("first of two")
    puts("goes on");
    fflush(stdout);
#pragma omp error at(execution) severity(fatal) message("second of two")
    puts("never");
    return 0;
}
