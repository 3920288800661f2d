// SPDX-License-Identifier: Apache-2.0
// The workloads are those of the papers: the numbers of tasks that they print.
#include "sim/cholesky.h"
#include "sim/gauss_seidel.h"
#include "sim/simulation.h"

#include <gtest/gtest.h>

using namespace sennit::sim;

namespace {

struct Printed {
    int ranks, n;
    std::uint64_t compute, communication;
};

Cholesky cholesky(int ranks, int n, int block = 512) {
    CholeskyOptions options;
    options.n = n;
    options.block = block;
    return {options, ranks};
}

TEST(Cholesky, HasTheTasksOfPaper1Table4) {
    for (const Printed row :
         {Printed{1, 41286, 88560, 0}, Printed{2, 52015, 176851, 10100},
          Printed{4, 65536, 357760, 32512}, Printed{8, 82570, 708561, 102082},
          Printed{16, 104031, 1414910, 243616}, Printed{32, 131072, 2829056, 640632}}) {
        const CholeskyCounts counts = cholesky(row.ranks, row.n).counts();
        EXPECT_EQ(counts.compute(), row.compute) << row.ranks;
        EXPECT_EQ(2 * counts.send, row.communication) << row.ranks;
    }
}

TEST(Cholesky, HasTheTasksOfPaper1Table2) {
    for (const Printed row :
         {Printed{16, 131072, 2829056, 388624}, Printed{32, 131072, 2829056, 640632},
          Printed{64, 131072, 2829056, 892640}, Printed{128, 131072, 2829056, 1372880}}) {
        const CholeskyCounts counts = cholesky(row.ranks, row.n).counts();
        EXPECT_EQ(counts.compute(), row.compute) << row.ranks;
        EXPECT_EQ(2 * counts.send, row.communication) << row.ranks;
    }
}

TEST(Cholesky, CreatesAsManyTasksAsItCounts) {
    for (const int ranks : {1, 2, 4, 8, 32}) {
        const Cholesky work = cholesky(ranks, 24 * 512);
        std::uint64_t compute = 0, sends = 0, receives = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            Tasks tasks = work.tasks_of(rank, Marks::none);
            while (const TaskSpec *task = tasks.next())
                ++(task->kind == Kind::compute ? compute
                   : task->kind == Kind::send  ? sends
                                               : receives);
        }
        const CholeskyCounts counts = work.counts();
        EXPECT_EQ(compute, counts.compute()) << ranks;
        EXPECT_EQ(sends, counts.send) << ranks;
        EXPECT_EQ(receives, counts.send) << ranks;
    }
}

TEST(Cholesky, RefusesWhatItCannotDivide) {
    EXPECT_THROW(cholesky(4, 100, 512), std::invalid_argument);
    CholeskyOptions options;
    options.rows = 3;
    EXPECT_THROW(Cholesky(options, 4), std::invalid_argument);
}

TEST(GaussSeidel, CreatesAsManyTasksAsItCountsAndEnds) {
    for (const bool sentinel : {false, true}) {
        GaussSeidelOptions options;
        options.cells = 8 * 64;
        options.block = 64;
        options.iterations = 5;
        options.sentinel = sentinel;
        const GaussSeidel work(options, 4);
        Setting setting;
        setting.choice = parse_choice("fifo");
        EXPECT_EQ(simulate(work, setting).tasks, work.task_count());
        EXPECT_EQ(work.task_count(), 5u * (64 + 4 * 3 * 8));
    }
}

// Paper 2, section 7.1: tasks that can be suspended scale; one communication task after the other
// stops scaling at four nodes, and more nodes make it no better, nor much worse.
TEST(GaussSeidel, SentinelStopsScalingAtFourNodes) {
    const auto time = [](int ranks, bool sentinel) {
        GaussSeidelOptions options;
        options.cells = 64 * 1024;
        options.iterations = 8;
        options.sentinel = sentinel;
        Setting setting;
        setting.machine.ranks = ranks;
        setting.machine.threads = 48;
        setting.choice = parse_choice("fifo");
        return static_cast<double>(simulate(GaussSeidel(options, ranks), setting).time);
    };
    EXPECT_GT(time(1, false), 2 * time(4, false)); // few iterations
    EXPECT_GT(time(1, true), time(2, true));
    EXPECT_GT(time(4, true), time(2, true));
    EXPECT_LT(time(8, true), 1.3 * time(4, true));
}

} // namespace
