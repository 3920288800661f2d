// SPDX-License-Identifier: Apache-2.0
// test, sanitizers:
// ISO C++ [except.handle] with OpenMP tasks: a task that waits inside a handler and rethrows gets
// its own exception back, however many other tasks were inside handlers on that thread meanwhile.
#include "check.h"
#include <stdexcept>
#include <string>

static void child(int depth, int id) {
    try {
        throw std::runtime_error(std::to_string(id));
    } catch (...) {
        if (depth > 0) {
            for (int k = 1; k <= 2; ++k) {
#pragma omp task firstprivate(depth, id, k)
                child(depth - 1, id * 2 + k);
            }
#pragma omp taskyield
#pragma omp taskwait
        }
        try {
            throw;
        } catch (const std::runtime_error &error) {
            CHECK(error.what() == std::to_string(id));
        }
    }
}

int main() {
#pragma omp parallel
#pragma omp single
    for (int id = 1; id <= 10; ++id) {
#pragma omp task firstprivate(id)
        child(6, id * 1000);
    }
    return 0;
}
