// SPDX-License-Identifier: Apache-2.0
#include "cholesky.h"

#include "decide/tasks/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sennit::sim {
namespace {

enum Function : std::uint8_t { kPotrf, kTrsm, kSyrk, kGemm, kSend, kReceive };

// The first index >= from that is `rest` modulo `cycle`.
int next_of(int from, int rest, int cycle) {
    return from + (rest - from % cycle + cycle) % cycle;
}

void begin(TaskSpec &task, Function function) {
    task.kind = function == kSend      ? Kind::send
                : function == kReceive ? Kind::receive
                                       : Kind::compute;
    task.function = function;
    task.count = 0;
    task.clause = 0;
}

// Of a task of so many operations, at a share of the core's speed. `name`: the option of the share.
Time task_time(const char *name, double operations, double gflops, double share) {
    constexpr double kLongest = 1e15; // ns, 11 days
    for (const auto &[option, value] : {std::pair("--gflops", gflops), std::pair(name, share)})
        if (!(value > 0) || value > 1e9) // not a number is not above 0
            throw std::invalid_argument(fmt::format(
                "{} {:g} is no speed: it must be above 0, and at most 1e9", option, value));
    const double time = operations / (gflops * share);
    if (time > kLongest)
        throw std::invalid_argument(
            fmt::format("a task of this --block takes {:.0g} s at this speed: the most is {:.0g}",
                        time * 1e-9, kLongest * 1e-9));
    return static_cast<Time>(time);
}

} // namespace

Cholesky::Cholesky(const CholeskyOptions &options, int ranks)
    : options_(options), tiles_(options.n / std::max(options.block, 1)), ranks_(ranks),
      rows_(options.rows), columns_(0) {
    if (options.block < 1 || tiles_ < 1)
        throw std::invalid_argument("the matrix has no whole tile: --n must be at least --block");
    if (tiles_ > 30000)
        throw std::invalid_argument("more than 30,000 tiles in a row: choose a larger --block");
    if (rows_ == 0) {
        rows_ = columns_ = ranks;
        while (rows_ * columns_ != ranks) {
            rows_ = (rows_ + 1) / 2;
            if (rows_ * columns_ != ranks)
                columns_ = (columns_ + 1) / 2;
            if (rows_ * columns_ < ranks)
                throw std::invalid_argument(
                    "this number of ranks is no power of two: give --grid-rows");
        }
    }
    if (rows_ < 1 || ranks % rows_ != 0)
        throw std::invalid_argument("--grid-rows does not divide the number of ranks");
    columns_ = ranks / rows_;
    const double cube = static_cast<double>(options.block) * options.block * options.block;
    potrf_ = task_time("--potrf", cube / 3, options.gflops, options.potrf);
    trsm_ = task_time("--trsm", cube, options.gflops, options.trsm);
    syrk_ = task_time("--syrk", cube, options.gflops, options.syrk);
    gemm_ = task_time("--gflops", 2 * cube, options.gflops, 1);
}

std::vector<std::string> Cholesky::functions() const {
    return {"potrf", "trsm", "syrk", "gemm", "send", "receive"};
}

std::uint32_t Cholesky::data_of(int) const {
    const int down = (tiles_ + rows_ - 1) / rows_, across = (tiles_ + columns_ - 1) / columns_;
    const auto buffers = options_.reuse ? tiles_ + 1 : tiles_ * (tiles_ + 1);
    return static_cast<std::uint32_t>(down * across + buffers);
}

CholeskyCounts Cholesky::counts() const {
    const auto t = static_cast<std::uint64_t>(tiles_);
    CholeskyCounts counts{t, t * (t - 1) / 2, t * (t - 1) / 2, t * (t - 1) * (t - 2) / 6, 0};
    std::vector<int> users;
    for (int k = 0; k < tiles_ && ranks_ > 1; ++k)
        for (int i = k; i < tiles_; ++i) {
            find_users(k, i, users);
            counts.send += users.size();
        }
    return counts;
}

std::uint64_t Cholesky::task_count() const {
    const CholeskyCounts all = counts();
    return all.compute() + 2 * all.send;
}

double Cholesky::flops() const {
    const double n = static_cast<double>(tiles_) * options_.block;
    return n * n * n / 3;
}

// Does `rank` use tile (k, i) of the factor? The diagonal tile: for its row. Another one: for what
// it updates, tiles (k+1 .. i, i) and (i, i .. end).
bool Cholesky::wants(int rank, int k, int i) const {
    const int row = rank / columns_, column = rank % columns_;
    if (k == i)
        return k % rows_ == row && next_of(k + 1, column, columns_) < tiles_;
    return (i % columns_ == column && next_of(k + 1, row, rows_) <= i) ||
           (i % rows_ == row && next_of(i, column, columns_) < tiles_);
}

// Ranks other than the owner that use it, in ascending order.
void Cholesky::find_users(int k, int i, std::vector<int> &users) const {
    users.clear();
    if (k == i) {
        for (int m = k + 1; m < tiles_ && m <= k + columns_; ++m)
            users.push_back(owner(k, m));
    } else {
        for (int j = k + 1; j <= i && j <= k + rows_; ++j)
            users.push_back(owner(j, i));
        for (int m = i; m < tiles_ && m < i + columns_; ++m)
            users.push_back(owner(i, m));
    }
    std::sort(users.begin(), users.end());
    users.erase(std::unique(users.begin(), users.end()), users.end());
    std::erase(users, owner(k, i));
}

// The number of the message with tile (k, i) to `user`.
std::uint64_t Cholesky::message_of(int k, int i, int user) const {
    return (static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(tiles_) +
            static_cast<std::uint64_t>(i)) *
               static_cast<std::uint64_t>(ranks_) +
           static_cast<std::uint64_t>(user);
}

// The priority clause of the task that works on tile (row, column) in a step; step == row: its
// last.
int Cholesky::clause_of(Marks marks, int step, int row, int column) const {
    if (marks == Marks::none || marks == Marks::sends)
        return 0;
    if (marks == Marks::global) {
        // The longest chain to the end, messages not counted.
        const double along = static_cast<double>(potrf_ + trsm_ + syrk_);
        const double whole = along * tiles_ + static_cast<double>(gemm_) * tiles_;
        const double diagonal = along * (tiles_ - 1 - column);
        const int behind = std::max(column - row - 1, 0); // tiles of its column before the diagonal
        const double left = row == column ? static_cast<double>(syrk_) * (row - step) + diagonal
                                          : static_cast<double>(gemm_) * (row - step) +
                                                static_cast<double>(gemm_ + trsm_) * behind +
                                                diagonal + static_cast<double>(trsm_ + syrk_);
        return 1 + static_cast<int>(1020 * std::min(left / whole, 1.0));
    }
    std::vector<int> users;
    find_users(row, column, users);
    if (users.empty())
        return 0;
    return marks == Marks::paths ? 1 : std::max(policy::kMostPriority - 1 - (row - step), 1);
}

Tasks Cholesky::tasks_of(int rank, Marks marks) const {
    const int row = rank / columns_, column = rank % columns_;
    const int across = (tiles_ + columns_ - 1) / columns_;
    const int own = (tiles_ + rows_ - 1) / rows_ * across;
    std::vector<int> users;
    TaskSpec task;
    task.part = options_.exchange;
    const auto fresh = [&task](Function function) { begin(task, function); };
    const auto mine = [&](int k, int i) { return k % rows_ == row && i % columns_ == column; };
    const auto tile = [&](int k, int i) {
        return static_cast<std::uint32_t>(k / rows_ * across + i / columns_);
    };
    const auto buffer = [&](int k, int i) {
        if (!options_.reuse)
            return static_cast<std::uint32_t>(own + k * tiles_ + i);
        return static_cast<std::uint32_t>(k == i ? own : own + 1 + i);
    };
    const auto use = [&](int k, int i) {
        if (mine(k, i))
            task.add(tile(k, i), Access::Mode::last_in);
        else
            task.add(buffer(k, i), Access::Mode::in);
    };
    const auto bytes = std::uint64_t{8} * static_cast<std::uint64_t>(options_.block) *
                       static_cast<std::uint64_t>(options_.block);
    const int send_clause = marks == Marks::none     ? 0
                            : marks == Marks::depths ? policy::kMostPriority
                                                     : 1;
    for (int k = 0; k < tiles_; ++k) {
        for (int i = k; i < tiles_; ++i) {
            if (mine(k, i)) {
                fresh(i == k ? kPotrf : kTrsm);
                task.duration = i == k ? potrf_ : trsm_;
                task.clause = clause_of(marks, k, k, i);
                if (i != k)
                    use(k, k);
                task.add(tile(k, i), Access::Mode::inout);
                const int clause = task.clause;
                co_yield task;
                if (ranks_ == 1)
                    continue;
                find_users(k, i, users);
                for (const int user : users) {
                    fresh(kSend);
                    task.message = message_of(k, i, user);
                    task.peer = static_cast<std::uint32_t>(user);
                    task.bytes = bytes;
                    task.clause = marks == Marks::global ? clause : send_clause;
                    use(k, i);
                    co_yield task;
                }
            } else if (wants(rank, k, i)) {
                fresh(kReceive);
                task.message = message_of(k, i, rank);
                task.peer = static_cast<std::uint32_t>(owner(k, i));
                task.bytes = bytes;
                task.clause = marks == Marks::global ? clause_of(marks, k, k, i) : 0;
                task.add(buffer(k, i), Access::Mode::inout);
                co_yield task;
            }
        }
        for (int i = next_of(k + 1, column, columns_); i < tiles_; i += columns_) {
            for (int j = next_of(k + 1, row, rows_); j <= i; j += rows_) {
                fresh(j == i ? kSyrk : kGemm);
                task.duration = j == i ? syrk_ : gemm_;
                task.clause = clause_of(marks, k, j, i);
                use(k, i);
                if (j != i)
                    use(k, j);
                task.add(tile(j, i), Access::Mode::inout);
                co_yield task;
            }
        }
    }
}

} // namespace sennit::sim
