// SPDX-License-Identifier: Apache-2.0
// test, policies:
// OpenMP 5.2, 5.4.4 (firstprivate): the copy constructor makes a task's copy when the task is
// created, its destructor runs when the task ends; deferred, undeferred, dependent, in branches.
#include "check.h"
#include <atomic>

static std::atomic<int> alive{0}, copies{0};

struct alignas(64) Tracked {
    int value;
    char payload[500] = {};
    explicit Tracked(int v) : value(v) { ++alive; }
    Tracked(const Tracked &other) : value(other.value) {
        ++alive;
        ++copies;
    }
    ~Tracked() {
        value = -1;
        --alive;
    }
};

int main() {
    {
        std::atomic<int> sum{0};
        Tracked object(7);
        int x = 0;
#pragma omp parallel
#pragma omp single
        {
            for (int i = 0; i < 300; ++i) {
                Tracked mine(i);
#pragma omp task firstprivate(mine) shared(sum, object)
                {
                    CHECK_EQ(reinterpret_cast<uintptr_t>(&mine) % 64, 0);
                    sum += mine.value;
                }
#pragma omp task firstprivate(mine) shared(sum, x) if (i % 2) depend(inout : x)
                {
                    sum += mine.value;
                    x += 1;
                }
#pragma omp task firstprivate(mine, object) shared(sum) final(i % 3 == 0)
                {
#pragma omp task firstprivate(object) shared(sum)
                    sum += object.value;
                }
            }
#pragma omp taskwait
        }
        CHECK_EQ(sum, 2 * 44850 + 300 * 7);
        CHECK_EQ(x, 300);
        CHECK_EQ(alive, 1);
        CHECK(copies >= 300 * 5);
    }
    CHECK_EQ(alive, 0);
    return 0;
}
