// SPDX-License-Identifier: Apache-2.0
// test, policies, split, tool:
// OpenMP 5.2, 1.4 / 12.5 restrictions: an exception thrown inside a task region may be caught
// inside it, also across scheduling points within the handler; uncaught_exceptions stays right.
#include "check.h"
#include <exception>
#include <stdexcept>
#include <string>

static int thrower(int depth, int id) {
    if (depth == 0)
        throw std::runtime_error(std::to_string(id));
    return thrower(depth - 1, id) + 1;
}

static int caught(int id) {
    try {
        return thrower(5, id);
    } catch (const std::runtime_error &error) {
        // children that throw run on this very thread while the handler is active
        for (int child = 0; child < 3; ++child) {
#pragma omp task firstprivate(id, child)
            {
                try {
                    thrower(2, id * 10 + child);
                } catch (const std::exception &inner) {
                    CHECK(inner.what() == std::to_string(id * 10 + child));
                }
            }
        }
#pragma omp taskwait
        CHECK_EQ(std::uncaught_exceptions(), 0);
        CHECK(error.what() == std::to_string(id));
        return std::stoi(error.what());
    }
}

int main() {
    int sum = 0;
#pragma omp parallel
    {
#pragma omp single
        for (int i = 0; i < 200; ++i) {
#pragma omp task shared(sum) firstprivate(i)
            {
                const int id = caught(i);
#pragma omp atomic
                sum += id;
            }
        }
        try {
            thrower(1, omp_get_thread_num());
        } catch (const std::runtime_error &error) {
            CHECK(error.what() == std::to_string(omp_get_thread_num()));
        }
    }
    CHECK_EQ(sum, 19900);
    return 0;
}
