// SPDX-License-Identifier: Apache-2.0
#include "gauss_seidel.h"

#include "decide/tasks/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sennit::sim {

// ---- versions -----------------------------------------------------------------------------------

const std::vector<std::string> &seidel_versions() {
    static const std::vector<std::string> names{"pure",     "nbuffer",     "forkjoin",
                                                "sentinel", "interop-blk", "detach"};
    return names;
}

SeidelVersion find_seidel_version(const std::string &name) {
    const auto &names = seidel_versions();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw std::invalid_argument(
            fmt::format("--version {} is none of {}", name, fmt::join(names, ", ")));
    return static_cast<SeidelVersion>(found - names.begin());
}

GaussSeidel::GaussSeidel(const GaussSeidelOptions &options, int ranks)
    : options_(options), blocks_(options.block > 0 ? options.cells / options.block : 0),
      ranks_(ranks) {
    if (blocks_ < 1)
        throw std::invalid_argument("no whole block: --block must be from 1 to --cells");
    if (sim::has_tasks(options.version) && blocks_ < ranks)
        throw std::invalid_argument("fewer rows of blocks than ranks");
    if (blocks_ * options.block < ranks)
        throw std::invalid_argument("fewer rows of cells than ranks");
    if (options.iterations < 1)
        throw std::invalid_argument("--iterations must be 1 or more");
    if (blocks_ > 30000)
        throw std::invalid_argument("more than 30,000 blocks in a row: choose a larger --block");
    constexpr double kLongest = 1e15; // ns of a task, 11 days
    const double rows =
        sim::has_tasks(options.version) ? options.block : share_of(0, options.cells);
    const double columns = options.version == SeidelVersion::pure ? options.cells : options.block;
    const double time = options.cell_ns * rows * columns;
    if (!(options.cell_ns >= 0) || !(time <= kLongest)) // nor if it is not a number
        throw std::invalid_argument(
            fmt::format("--cell-ns {:g} is no time for a cell: it must be 0 or more, and a block "
                        "may take at most {:g} s",
                        options.cell_ns, kLongest * 1e-9));
}

int GaussSeidel::share_of(int rank, int all) const {
    return all / ranks_ + (rank < all % ranks_ ? 1 : 0);
}

std::uint32_t GaussSeidel::data_of(int rank) const {
    return has_tasks() ? datum(share_of(rank, blocks_) + 2, 0) + 1 : 1;
}

std::uint64_t GaussSeidel::task_count() const {
    const auto blocks = static_cast<std::uint64_t>(blocks_);
    const auto ranks = static_cast<std::uint64_t>(ranks_);
    const std::uint64_t ends = 4 * (ranks - 1); // of the messages of all borders
    std::uint64_t each = 0;
    switch (options_.version) {
    case SeidelVersion::pure:
        each = ranks + ends;
        break;
    case SeidelVersion::nbuffer: // what begins and what waits
        each = blocks * (ranks + 2 * ends);
        break;
    case SeidelVersion::forkjoin:
        each = blocks * blocks + ends;
        break;
    case SeidelVersion::sentinel:
    case SeidelVersion::interop_blk:
    case SeidelVersion::detach:
        each = blocks * (blocks + ends);
        break;
    }
    return each * static_cast<std::uint64_t>(options_.iterations);
}

Tasks GaussSeidel::tasks_of(int rank, Marks marks) const {
    switch (options_.version) {
    case SeidelVersion::pure:
    case SeidelVersion::forkjoin:
        return whole_rows_of(rank);
    case SeidelVersion::nbuffer:
        return column_blocks_of(rank);
    case SeidelVersion::sentinel:
    case SeidelVersion::interop_blk:
    case SeidelVersion::detach:
        break;
    }
    return message_tasks_of(rank, marks);
}

// ---- one task -----------------------------------------------------------------------------------

void GaussSeidel::compute(TaskSpec &task, int rows, int columns) const {
    task = TaskSpec{};
    task.function = kBlock;
    task.duration = static_cast<Time>(options_.cell_ns * rows * columns);
}

// `column`: which of the messages of a border, each of so many columns of cells.
void GaussSeidel::communicate(TaskSpec &task, Function function, int rank, int column, int columns,
                              int iteration) const {
    const bool above = function == kSendUp || function == kReceiveAbove;
    // A border has two messages a column and iteration: one up, one down.
    const bool up = function == kSendUp || function == kReceiveBelow;
    const auto upper = static_cast<std::uint64_t>(above ? rank - 1 : rank);
    const std::uint64_t place =
        (upper * static_cast<std::uint64_t>(blocks_) + static_cast<std::uint64_t>(column)) * 2 +
        (up ? 1 : 0);
    task = TaskSpec{};
    task.function = function;
    task.kind = function == kSendUp || function == kSendDown ? Kind::send : Kind::receive;
    task.peer = static_cast<std::uint32_t>(above ? rank - 1 : rank + 1);
    task.bytes = std::uint64_t{8} * static_cast<std::uint64_t>(columns);
    task.message = place * static_cast<std::uint64_t>(options_.iterations) +
                   static_cast<std::uint64_t>(iteration);
}

// Row 0 is what comes from above, the one behind the last what comes from below.
void GaussSeidel::depend_on_neighbours(TaskSpec &task, int rank, int row, int column) const {
    if (row > 1 || rank > 0)
        task.add(datum(row - 1, column), Access::Mode::in);
    if (column > 0)
        task.add(datum(row, column - 1), Access::Mode::in);
    if (column + 1 < blocks_)
        task.add(datum(row, column + 1), Access::Mode::in);
    if (row < share_of(rank, blocks_) || rank + 1 < ranks_)
        task.add(datum(row + 1, column), Access::Mode::in);
    task.add(datum(row, column), Access::Mode::inout);
}

// ---- all of a rank ------------------------------------------------------------------------------

Tasks GaussSeidel::message_tasks_of(int rank, Marks marks) const {
    const int rows = share_of(rank, blocks_);
    const bool above = rank > 0, below = rank + 1 < ranks_;
    TaskSpec task;
    const auto message = [&](Function function, int row, int column, int iteration) {
        communicate(task, function, rank, column, options_.block, iteration);
        const bool sends = task.kind == Kind::send;
        if (options_.version == SeidelVersion::detach)
            task.part = Part::detached;
        if (sends && marks != Marks::none)
            task.clause = marks == Marks::depths ? policy::kMostPriority : 1;
        task.add(datum(row, column), sends ? Access::Mode::in : Access::Mode::inout);
        if (options_.version == SeidelVersion::sentinel)
            task.add(last_datum(rank), Access::Mode::inout);
    };
    // In the order of the authors' program: one border after the other. It matters where the
    // communication tasks of a rank follow each other: what goes up and what comes from below
    // belongs to the last iteration, so nobody waits in a circle.
    for (int t = 0; t < options_.iterations; ++t) {
        for (int c = 0; c < blocks_ && above; ++c) {
            message(kSendUp, 1, c, t);
            co_yield task;
        }
        for (int c = 0; c < blocks_ && above; ++c) {
            message(kReceiveAbove, 0, c, t);
            co_yield task;
        }
        for (int c = 0; c < blocks_ && below; ++c) {
            message(kReceiveBelow, rows + 1, c, t);
            co_yield task;
        }
        for (int r = 1; r <= rows; ++r) {
            for (int c = 0; c < blocks_; ++c) {
                compute(task, options_.block, options_.block);
                if (marks == Marks::paths || marks == Marks::global)
                    task.clause = 1;
                else if (marks == Marks::depths && (above || below))
                    task.clause = std::max(1, policy::kMostPriority - 1 - (below ? rows - r : r));
                depend_on_neighbours(task, rank, r, c);
                co_yield task;
            }
        }
        for (int c = 0; c < blocks_ && below; ++c) {
            message(kSendDown, rows, c, t);
            co_yield task;
        }
    }
}

// All that communicates follows all that was before it, and blocks follow what communicates.
Tasks GaussSeidel::whole_rows_of(int rank) const {
    const bool above = rank > 0, below = rank + 1 < ranks_;
    const bool forks = options_.version == SeidelVersion::forkjoin;
    const int cells = blocks_ * options_.block;
    bool joins = false;
    TaskSpec task;
    const auto join = [&] { task.after_all = std::exchange(joins, false); };
    const auto message = [&](Function function, int iteration) {
        communicate(task, function, rank, 0, cells, iteration);
        task.part = Part::undeferred;
        task.add(last_datum(rank), Access::Mode::inout);
        join();
    };
    for (int t = 0; t < options_.iterations; ++t) {
        if (above) {
            message(kSendUp, t);
            co_yield task;
            message(kReceiveAbove, t);
            co_yield task;
        }
        if (below) {
            message(kReceiveBelow, t);
            co_yield task;
        }
        if (!forks) {
            compute(task, share_of(rank, cells), cells);
            task.add(last_datum(rank), Access::Mode::inout);
            co_yield task;
        }
        for (int r = 1; forks && r <= share_of(rank, blocks_); ++r) {
            for (int c = 0; c < blocks_; ++c) {
                compute(task, options_.block, options_.block);
                depend_on_neighbours(task, rank, r, c);
                task.add(last_datum(rank), Access::Mode::in);
                join();
                co_yield task;
            }
        }
        joins = forks;
        if (below) {
            message(kSendDown, t);
            co_yield task;
        }
    }
}

// A block of columns waits for its own messages alone, and begins those of the next iteration as
// soon as it is computed.
Tasks GaussSeidel::column_blocks_of(int rank) const {
    const bool above = rank > 0, below = rank + 1 < ranks_;
    const int rows = share_of(rank, blocks_ * options_.block), last = options_.iterations - 1;
    struct Call {
        Function function;
        Part part;
        int iteration;
    };
    std::vector<Call> calls;
    TaskSpec task;
    const auto call_needed = [&](Part part, int iteration) {
        if (above) {
            calls.push_back({kSendUp, part, iteration});
            calls.push_back({kReceiveAbove, part, iteration});
        }
        if (below)
            calls.push_back({kReceiveBelow, part, iteration});
    };
    const auto make = [&](const Call &call, int column) {
        communicate(task, call.function, rank, column, options_.block, call.iteration);
        task.part = call.part;
        task.add(0, Access::Mode::inout);
    };
    for (int t = 0; t <= last; ++t) {
        for (int c = 0; c < blocks_; ++c) {
            calls.clear();
            if (t == 0)
                call_needed(Part::begin, 0);
            call_needed(Part::wait, t);
            if (t > 0 && below)
                calls.push_back({kSendDown, Part::wait, t - 1});
            for (const Call &call : calls) {
                make(call, c);
                co_yield task;
            }
            compute(task, rows, options_.block);
            task.add(0, Access::Mode::inout);
            co_yield task;
            calls.clear();
            if (below)
                calls.push_back({kSendDown, Part::begin, t});
            if (t < last)
                call_needed(Part::begin, t + 1);
            for (const Call &call : calls) {
                make(call, c);
                co_yield task;
            }
        }
    }
    for (int c = 0; c < blocks_ && below; ++c) {
        make({kSendDown, Part::wait, last}, c);
        co_yield task;
    }
}

} // namespace sennit::sim
