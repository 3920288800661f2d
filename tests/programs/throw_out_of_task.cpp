// SPDX-License-Identifier: Apache-2.0
// build:
// OpenMP 5.2, 12.5, restrictions: an exception must not leave the task region. A program that
// breaks this rule ends as C++ programs do, by std::terminate; never in a hang. Expected: SIGABRT.
#include "check.h"
#include <stdexcept>

int main() {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 10; ++i) {
#pragma omp task
        if (i == 5)
            throw std::runtime_error("out of the task");
    }
    return 0;
}
