// SPDX-License-Identifier: Apache-2.0
#include "gauss_seidel.h"

#include "decide/tasks/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace sennit::sim {
namespace {

enum Function : std::uint8_t { kBlock, kSendUp, kSendDown, kReceiveAbove, kReceiveBelow };

} // namespace

GaussSeidel::GaussSeidel(const GaussSeidelOptions &options, int ranks)
    : options_(options), blocks_(options.block > 0 ? options.cells / options.block : 0),
      ranks_(ranks) {
    if (blocks_ < ranks)
        throw std::invalid_argument("fewer rows of blocks than ranks");
    if (options.iterations < 1)
        throw std::invalid_argument("--iterations must be 1 or more");
    if (blocks_ > 30000)
        throw std::invalid_argument("more than 30,000 blocks in a row: choose a larger --block");
    constexpr double kLongest = 1e15; // ns of a block, 11 days
    const double time = options.cell_ns * options.block * options.block;
    if (!(options.cell_ns >= 0) || !(time <= kLongest)) // nor if it is not a number
        throw std::invalid_argument(
            fmt::format("--cell-ns {:g} is no time for a cell: it must be 0 or more, and a block "
                        "may take at most {:g} s",
                        options.cell_ns, kLongest * 1e-9));
}

int GaussSeidel::rows_of(int rank) const {
    return blocks_ / ranks_ + (rank < blocks_ % ranks_ ? 1 : 0);
}

std::uint32_t GaussSeidel::data_of(int rank) const {
    return static_cast<std::uint32_t>((rows_of(rank) + 2) * blocks_ + 1);
}

std::uint64_t GaussSeidel::task_count() const {
    const auto blocks = static_cast<std::uint64_t>(blocks_);
    const auto borders = static_cast<std::uint64_t>(ranks_ - 1);
    return (blocks * blocks + 4 * borders * blocks) *
           static_cast<std::uint64_t>(options_.iterations);
}

Tasks GaussSeidel::tasks_of(int rank, Marks marks) const {
    const int rows = rows_of(rank);
    const bool above = rank > 0, below = rank + 1 < ranks_;
    // Row 0 is what comes from above, row rows + 1 what comes from below.
    const auto datum = [&](int row, int column) {
        return static_cast<std::uint32_t>(row * blocks_ + column);
    };
    const std::uint32_t sentinel = datum(rows + 2, 0);
    TaskSpec task;
    const auto fresh = [&](Function function, Kind kind) {
        task.kind = kind;
        task.function = function;
        task.count = 0;
        task.clause = 0;
    };
    const auto communicate = [&](Function function, Kind kind, int row, int column, int iteration,
                                 int peer, int upper) {
        fresh(function, kind);
        task.peer = static_cast<std::uint32_t>(peer);
        task.bytes = std::uint64_t{8} * static_cast<std::uint64_t>(options_.block);
        // A border has two messages a column and iteration: one up, one down.
        const bool up = function == kSendUp || function == kReceiveBelow;
        const std::uint64_t place =
            (static_cast<std::uint64_t>(upper) * static_cast<std::uint64_t>(blocks_) +
             static_cast<std::uint64_t>(column)) *
                2 +
            (up ? 1 : 0);
        task.message = place * static_cast<std::uint64_t>(options_.iterations) +
                       static_cast<std::uint64_t>(iteration);
        if (kind == Kind::send && marks != Marks::none)
            task.clause = marks == Marks::depths ? policy::kMostPriority : 1;
        task.add(datum(row, column), kind == Kind::send ? Access::Mode::in : Access::Mode::inout);
        if (options_.sentinel)
            task.add(sentinel, Access::Mode::inout);
    };
    // In the order of the authors' program: one border after the other. It matters where the
    // communication tasks of a rank follow each other: what goes up and what comes from below
    // belongs to the last iteration, so nobody waits in a circle.
    for (int t = 0; t < options_.iterations; ++t) {
        for (int c = 0; c < blocks_ && above; ++c) {
            communicate(kSendUp, Kind::send, 1, c, t, rank - 1, rank - 1);
            co_yield task;
        }
        for (int c = 0; c < blocks_ && above; ++c) {
            communicate(kReceiveAbove, Kind::receive, 0, c, t, rank - 1, rank - 1);
            co_yield task;
        }
        for (int c = 0; c < blocks_ && below; ++c) {
            communicate(kReceiveBelow, Kind::receive, rows + 1, c, t, rank + 1, rank);
            co_yield task;
        }
        for (int r = 1; r <= rows; ++r) {
            for (int c = 0; c < blocks_; ++c) {
                fresh(kBlock, Kind::compute);
                task.duration =
                    static_cast<Time>(options_.cell_ns * options_.block * options_.block);
                if (marks == Marks::paths || marks == Marks::global)
                    task.clause = 1;
                else if (marks == Marks::depths && (above || below))
                    task.clause = std::max(1, policy::kMostPriority - 1 - (below ? rows - r : r));
                if (r > 1 || above)
                    task.add(datum(r - 1, c), Access::Mode::in);
                if (c > 0)
                    task.add(datum(r, c - 1), Access::Mode::in);
                if (c + 1 < blocks_)
                    task.add(datum(r, c + 1), Access::Mode::in);
                if (r < rows || below)
                    task.add(datum(r + 1, c), Access::Mode::in);
                task.add(datum(r, c), Access::Mode::inout);
                co_yield task;
            }
        }
        for (int c = 0; c < blocks_ && below; ++c) {
            communicate(kSendDown, Kind::send, rows, c, t, rank + 1, rank);
            co_yield task;
        }
    }
}

} // namespace sennit::sim
