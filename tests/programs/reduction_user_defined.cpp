// SPDX-License-Identifier: Apache-2.0
// test, split:
// OpenMP 5.2, 5.5.11 (declare reduction): combiner and initializer of a class with a constructor;
// every private copy is constructed and destroyed once.
#include "check.h"
#include <atomic>
#include <vector>

namespace {

std::atomic<int> alive{0};

struct Range {
    int low, high;
    Range(int l = 1 << 30, int h = -(1 << 30)) : low(l), high(h) { ++alive; }
    Range(const Range &other) : low(other.low), high(other.high) { ++alive; }
    Range &operator=(const Range &) = default;
    ~Range() { --alive; }
    void widen(const Range &other) {
        low = other.low < low ? other.low : low;
        high = other.high > high ? other.high : high;
    }
};

} // namespace

#pragma omp declare reduction(widen:Range : omp_out.widen(omp_in)) initializer(omp_priv = Range())
#pragma omp declare reduction(                                                                     \
        join : std::vector<int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))

int main() {
    {
        Range range;
        std::vector<int> found;
#pragma omp parallel for reduction(widen : range) reduction(join : found)
        for (int i = 0; i < 1000; ++i) {
            const int value = (i * 37 + 11) % 1000 - 250;
            range.widen(Range(value, value));
            if (value % 100 == 0)
                found.push_back(value);
        }
        CHECK_EQ(range.low, -250);
        CHECK_EQ(range.high, 749);
        int sum = 0;
        for (int value : found)
            sum += value;
        CHECK_EQ(found.size(), 10);
        CHECK_EQ(sum, 2500);
    }
    CHECK_EQ(alive, 0);
    return 0;
}
