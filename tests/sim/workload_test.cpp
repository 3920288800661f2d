// SPDX-License-Identifier: Apache-2.0
// The workloads are those of the papers: the numbers of tasks that they print.
#include "sim/cholesky.h"
#include "sim/gauss_seidel.h"
#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <array>

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

// `cells`: in a row; 64 of them are a block.
GaussSeidel seidel(SeidelVersion version, int cells, int iterations, int ranks) {
    GaussSeidelOptions options;
    options.cells = cells;
    options.block = 64;
    options.iterations = iterations;
    options.cell_ns = 100; // the runtime's steps take next to nothing
    options.version = version;
    return {options, ranks};
}

// Of a rank with one thread, whatever the version.
Result simulate_seidel(const GaussSeidel &work, int ranks, double overhead = 500) {
    Setting setting;
    setting.machine.ranks = ranks;
    setting.machine.threads = 1;
    setting.machine.overhead = overhead;
    setting.choice = parse_choice("fifo");
    return simulate(work, setting);
}

constexpr std::array kVersions = {SeidelVersion::pure,        SeidelVersion::nbuffer,
                                  SeidelVersion::forkjoin,    SeidelVersion::sentinel,
                                  SeidelVersion::interop_blk, SeidelVersion::detach};

TEST(GaussSeidel, CreatesAsManyTasksAsItCountsAndEnds) {
    for (const SeidelVersion version : kVersions) {
        const GaussSeidel work = seidel(version, 8 * 64, 5, 4);
        const Result result = simulate_seidel(work, 4);
        EXPECT_EQ(result.tasks, work.task_count()) << static_cast<int>(version);
        // Each border has a message up and one down, of whole rows or for each column of blocks.
        const bool whole = version == SeidelVersion::pure || version == SeidelVersion::forkjoin;
        EXPECT_EQ(result.messages, 5u * 3 * 2 * (whole ? 1 : 8)) << static_cast<int>(version);
        EXPECT_EQ(result.sends, result.messages) << static_cast<int>(version);
        EXPECT_EQ(result.receives, result.messages) << static_cast<int>(version);
        EXPECT_EQ(result.bytes, 5u * 3 * 2 * 8 * 512) << static_cast<int>(version);
    }
}

// Without tasks nothing takes time but cells, calls and messages: on one rank, cells alone.
TEST(GaussSeidel, WithoutTasksTheRuntimeTakesNoTime) {
    for (const SeidelVersion version : {SeidelVersion::pure, SeidelVersion::nbuffer}) {
        const Result result = simulate_seidel(seidel(version, 4 * 64, 3, 1), 1);
        EXPECT_EQ(result.time, 3 * 256 * 256 * 100) << static_cast<int>(version);
        EXPECT_EQ(result.overhead, 0) << static_cast<int>(version);
    }
}

// Paper 2, figure 8, above: a rank's iteration follows that of the rank above it, and the one
// before of the rank below. So rank r begins iteration t after r + 2 t turns, of a rank's cells
// each, if messages take no time.
TEST(GaussSeidel, WholeRowsLetEveryOtherRankWait) {
    const auto turns = [](SeidelVersion version, int ranks, int iterations) {
        const GaussSeidel work = seidel(version, 16 * 64, iterations, ranks);
        const double turn = 100. * 16 * 64 * 16 * 64 / ranks;
        return static_cast<double>(simulate_seidel(work, ranks, 0).time) / turn;
    };
    EXPECT_NEAR(turns(SeidelVersion::pure, 8, 10), 8 + 2 * 9, .1);
    EXPECT_NEAR(turns(SeidelVersion::forkjoin, 8, 10), 8 + 2 * 9, .1);
    // Blocks of columns, sent at once: a rank follows the one above by a block. In the first
    // iteration a block waits for the rank below, too, which has just computed the one before.
    EXPECT_NEAR(turns(SeidelVersion::nbuffer, 8, 10), 10 + (7 + 15) / 16., .1);
}

// No schedule is shorter than the longest chain, which knows the calls in their order.
TEST(GaussSeidel, TakesAtLeastItsCriticalPath) {
    for (const SeidelVersion version : kVersions) {
        const GaussSeidel work = seidel(version, 8 * 64, 6, 4);
        Setting setting;
        setting.machine.ranks = 4;
        setting.choice = parse_choice("fifo");
        const Time path = critical_path(work, setting);
        EXPECT_LE(path, simulate_seidel(work, 4).time) << static_cast<int>(version);
        if (version == SeidelVersion::pure) {
            EXPECT_GE(path, (4 + 2 * 5) * 100 * 512 * 512 / 4);
        }
    }
}

// Paper 2, section 7.1: tasks that can be suspended scale; one communication task after the other
// stops scaling at four nodes, and more nodes make it no better, nor much worse.
TEST(GaussSeidel, SentinelStopsScalingAtFourNodes) {
    const auto time = [](int ranks, bool sentinel) {
        GaussSeidelOptions options;
        options.cells = 64 * 1024;
        options.iterations = 8;
        options.version = sentinel ? SeidelVersion::sentinel : SeidelVersion::interop_blk;
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
