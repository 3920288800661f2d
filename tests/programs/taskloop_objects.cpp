// SPDX-License-Identifier: Apache-2.0
// test:
// OpenMP 5.2, 5.4.4 and 12.6: each task of a taskloop owns a copy of a firstprivate object, made by
// the copy constructor and destroyed once; lastprivate of a class assigns back the last value.
#include "check.h"
#include <atomic>
#include <string>
#include <vector>

static std::atomic<int> alive{0};

struct Tracked {
    std::vector<int> values;
    explicit Tracked(int n) : values(static_cast<size_t>(n), 1) { ++alive; }
    Tracked(const Tracked &other) : values(other.values) { ++alive; }
    Tracked &operator=(const Tracked &) = default;
    ~Tracked() { --alive; }
};

int main() {
    {
        Tracked tracked(100);
        std::string last = "none";
        std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
        for (int round = 0; round < 20; ++round) {
#pragma omp taskloop firstprivate(tracked) lastprivate(last) shared(sum) num_tasks(9)
            for (int i = 0; i < 100; ++i) {
                tracked.values[static_cast<size_t>(i)] += i;
                sum += tracked.values[static_cast<size_t>(i)];
                last = "iteration " + std::to_string(i);
            }
            CHECK(last == "iteration 99");
            CHECK_EQ(tracked.values[50], 1);
        }
        CHECK_EQ(sum, 20 * 5050);
    }
    CHECK_EQ(alive, 0);
    return 0;
}
