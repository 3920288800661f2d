// SPDX-License-Identifier: Apache-2.0
// test:
// OpenMP 5.2, 4.4.1: the loop variable may be a random access iterator, and a range-based for loop
// may be associated with a worksharing-loop.
#include "check.h"
#include <deque>
#include <numeric>
#include <vector>

int main() {
    std::vector<int> values(1000);
    std::iota(values.begin(), values.end(), 0);
    std::deque<int> queue(values.begin(), values.end());
    long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 7)
    for (auto it = values.begin(); it < values.end(); ++it)
        sum += *it;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (auto it = queue.rbegin(); it < queue.rend(); it += 3)
        sum += *it;
#pragma omp parallel for reduction(+ : sum) schedule(guided)
    for (int value : values)
        sum += value;
    long expected = 2 * 499500;
    for (int value = 999; value >= 0; value -= 3)
        expected += value;
    CHECK_EQ(sum, expected);
    return 0;
}
