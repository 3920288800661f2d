// SPDX-License-Identifier: Apache-2.0
// test, split: OMP_CANCELLATION=true
// OpenMP 5.2, 5.4.4 and 11.5: a task that is discarded because its taskgroup was cancelled leaves
// no firstprivate object behind, whether tasks are made one by one or by a taskloop; a construct
// with reduction(task, ...) in the taskgroup does not hide it from `cancel`.
#include "check.h"
#include <atomic>
#include <vector>

static std::atomic<int> alive{0};

struct Tracked {
    std::vector<int> values;
    explicit Tracked(int n) : values(static_cast<size_t>(n), 1) { ++alive; }
    Tracked(const Tracked &other) : values(other.values) { ++alive; }
    Tracked &operator=(const Tracked &) = default;
    ~Tracked() { --alive; }
};

static void tasks(const Tracked &given) {
    Tracked tracked(given);
#pragma omp taskgroup
    {
        for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(tracked)
            {
                CHECK_EQ(tracked.values[static_cast<size_t>(i)], 1);
                if (i == 20) {
#pragma omp cancel taskgroup
                }
            }
        }
    }
}

static void loop(const Tracked &given) {
    Tracked tracked(given);
#pragma omp taskgroup
    {
#pragma omp task
        {
#pragma omp cancel taskgroup
        }
#pragma omp taskloop nogroup firstprivate(tracked) num_tasks(30)
        for (int i = 0; i < 100; ++i)
            CHECK_EQ(tracked.values[static_cast<size_t>(i)], 1);
    }
}

// Each thread's taskgroup is cancelled by a task of the loop, so no later task may begin.
static void reduction() {
    int sum = 0;
#pragma omp parallel
#pragma omp taskgroup
    {
        int mine = 0; // did this thread have iterations?
#pragma omp for reduction(task, + : sum) schedule(static)
        for (int i = 0; i < 64; ++i) {
            ++sum;
            mine = 1;
#pragma omp task in_reduction(+ : sum)
            {
                sum += 0;
#pragma omp cancel taskgroup
                CHECK(!omp_get_cancellation());
            }
        }
        CHECK_EQ(sum, 64);
#pragma omp task firstprivate(mine)
        CHECK(!mine || !omp_get_cancellation());
    }
}

int main() {
    CHECK(omp_get_cancellation());
    {
        Tracked tracked(100);
        for (int round = 0; round < 50; ++round) {
#pragma omp parallel
            {
                tasks(tracked);
                loop(tracked);
            }
            CHECK_EQ(alive, 1);
            reduction();
        }
    }
    CHECK_EQ(alive, 0);
    return 0;
}
