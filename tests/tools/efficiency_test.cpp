// SPDX-License-Identifier: Apache-2.0
// Efficiencies of runs that are made so that they are known.
#include "made_trace.h"

#include <gtest/gtest.h>
#include <initializer_list>
#include <string>

using namespace sennit::trace;
using namespace sennit::report;
using namespace sennit::made;

namespace {

constexpr Window kWhole{0, 1000};

// A rank with one thread, in the program all the time.
Process sequence(int rank) {
    Process process = make_process(rank, 0);
    process.threads.pop_back();
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    return process;
}

Job job_of(std::initializer_list<Process> processes) {
    Job job{};
    job.processes = processes;
    job.end = 1000;
    return job;
}

void meet(Process &process, Ns begin, Ns end) {
    process.calls.push_back(call(0, kNeither, -1, begin, end, 0));
}

// Rank `to` receives what rank `from` sends.
void add_message(Job &job, std::uint32_t from, Ns sent, std::uint32_t to, Ns begin, Ns end) {
    const auto number = static_cast<std::uint32_t>(job.messages.size());
    Process &source = job.processes[from];
    Process &target = job.processes[to];
    source.calls.push_back(call(0, kSend, static_cast<int>(to), sent, sent, 0));
    target.calls.push_back(call(0, kReceive, static_cast<int>(from), begin, end, 0));
    source.calls.back().message = target.calls.back().message = number;
    job.messages.push_back({from, static_cast<std::uint32_t>(source.calls.size() - 1), to,
                            static_cast<std::uint32_t>(target.calls.size() - 1)});
}

// A region of both threads.
void add_region(Process &process, Ns begin, Ns end) {
    for (std::uint32_t thread : {0u, 1u})
        process.parts.push_back({begin, end, 1, 16, thread, 2});
}

// Within a hundredth.
void expect_mpi(const Efficiencies &found, double parallel, double balance, double serialization,
                double transfer) {
    ASSERT_TRUE(found.transfer.has_value()) << found.undivided;
    EXPECT_NEAR(found.job.spent.parallel(), parallel, 0.001);
    EXPECT_NEAR(found.job.rank_balance, balance, 0.001);
    EXPECT_NEAR(found.job.communication, serialization * transfer, 0.001);
    EXPECT_NEAR(*found.serialization, serialization, 0.001);
    EXPECT_NEAR(*found.transfer, transfer, 0.001);
    EXPECT_NEAR(found.job.spent.openmp(), 1, 0.001);
}

void expect_openmp(const sennit::Spent &spent, double serial, double balance, double scheduling) {
    EXPECT_NEAR(spent.serial_parts(), serial, 0.001);
    EXPECT_NEAR(spent.thread_balance(), balance, 0.001);
    EXPECT_NEAR(spent.overhead(), scheduling, 0.001);
    EXPECT_NEAR(spent.openmp(), serial * balance * scheduling, 0.001);
}

std::string why_not(Process process) {
    return efficiencies_of(job_of({std::move(process)}), kWhole).undivided;
}

} // namespace

TEST(ReportEfficiency, ARankWithLessWorkWaitsForTheOther) {
    Job job = job_of({sequence(0), sequence(1)});
    meet(job.processes[0], 1000, 1000);
    meet(job.processes[1], 500, 1000);
    expect_mpi(efficiencies_of(job, kWhole), 0.75, 0.75, 1, 1);
}

TEST(ReportEfficiency, RanksThatWorkInTurnsAreSerialized) {
    Job job = job_of({sequence(0), sequence(1)});
    add_message(job, 0, 400, 1, 0, 400);
    add_message(job, 1, 1000, 0, 400, 1000);
    expect_mpi(efficiencies_of(job, kWhole), 0.5, 500.0 / 600, 0.6, 1);
}

TEST(ReportEfficiency, WhatTheNetworkTakesIsTransfer) {
    Job job = job_of({sequence(0), sequence(1)});
    meet(job.processes[0], 500, 1000);
    meet(job.processes[1], 500, 1000);
    expect_mpi(efficiencies_of(job, kWhole), 0.5, 1, 1, 0.5);
}

TEST(ReportEfficiency, AllThreeAtOnce) {
    // Rank 0 computes 200 and sends, which takes 100; rank 1 then computes 400, and meets rank 0,
    // which has computed 300 more. The meeting takes 300.
    Job job = job_of({sequence(0), sequence(1)});
    add_message(job, 0, 200, 1, 0, 300);
    meet(job.processes[0], 500, 1000);
    meet(job.processes[1], 700, 1000);
    const Efficiencies found = efficiencies_of(job, kWhole);
    expect_mpi(found, 0.45, 450.0 / 500, 500.0 / 600, 0.6);
    EXPECT_NEAR(found.ranks[0].spent.mpi_part(), 0.5, 0.001);
    EXPECT_NEAR(found.ranks[1].spent.mpi_part(), 0.4, 0.001);
    EXPECT_NEAR(found.job.spent.parallel(), found.job.spent.mpi_part() * found.job.spent.openmp(),
                1e-9);
}

TEST(ReportEfficiency, AReceiveThatWasPostedIsWaitedForLater) {
    Job job = job_of({sequence(0), sequence(1)});
    add_message(job, 0, 300, 1, 100, 100);
    Process &one = job.processes[1];
    one.calls[0].post = true;
    one.calls[0].wait = 1;
    one.file.names[2000] = "MPI_Wait";
    one.calls.push_back(call(0, kNeither, -1, 200, 600, 0));
    one.calls[1].name = 2000;
    one.calls[1].requests = 1;
    // Ideal: the wait ends at 300, and 400 follow. Rank 0 computes all the time.
    expect_mpi(efficiencies_of(job, kWhole), 0.8, 0.8, 1, 1);
}

TEST(ReportEfficiency, ThreadsOfARegionThatHaveLessWork) {
    Process process = make_process(0, 0);
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    process.threads[1].intervals = {{0, 400, State::program, 0}, {400, 1000, State::outside, 0}};
    add_region(process, 0, 1000);
    const Efficiencies found = efficiencies_of(job_of({process}), kWhole);
    expect_openmp(found.job.spent, 1, 0.7, 1);
    EXPECT_NEAR(found.job.spent.mpi_part(), 1, 1e-9);
    ASSERT_EQ(found.regions.size(), 1u);
    EXPECT_NEAR(found.regions[0].spent.parallel(), 0.7, 0.001);
}

TEST(ReportEfficiency, OutsideOfRegionsOneThreadWorks) {
    Process process = make_process(0, 0);
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    process.threads[1].intervals = {{0, 500, State::outside, 0}, {500, 1000, State::program, 0}};
    add_region(process, 500, 1000);
    const Efficiencies found = efficiencies_of(job_of({process}), kWhole);
    expect_openmp(found.job.spent, 0.75, 1, 1);
    EXPECT_NEAR(found.regions.at(0).spent.parallel(), 1, 0.001);
    // A thread that is not there yet is as one without work.
    process.threads[1].intervals.erase(process.threads[1].intervals.begin());
    expect_openmp(efficiencies_of(job_of({process}), kWhole).job.spent, 0.75, 1, 1);
}

TEST(ReportEfficiency, TheInitialThreadWorksBeforeItsFirstEvent) {
    Process process = sequence(0);
    process.threads[0].intervals[0].begin = 700;
    const Efficiencies alone = efficiencies_of(job_of({process}), kWhole);
    expect_openmp(alone.job.spent, 1, 1, 1);
    EXPECT_EQ(alone.job.spent.useful, 1000);
    // Another thread may not be there yet.
    process = make_process(0, 0);
    for (ThreadModel &thread : process.threads)
        thread.intervals = {{500, 1000, State::program, 0}};
    add_region(process, 500, 1000);
    expect_openmp(efficiencies_of(job_of({process}), kWhole).job.spent, 0.75, 1, 1);
}

TEST(ReportEfficiency, AThreadThatHasATaskAndDoesNotRunItYet) {
    Process process = make_process(0, 2);
    run(process, 1, 0, 0, 0, 0, 1000);
    run(process, 2, 1, 0, 0, 200, 1000);
    fill_gaps(process);
    add_region(process, 0, 1000);
    expect_openmp(efficiencies_of(job_of({process}), kWhole).job.spent, 1, 1, 0.9);
}

TEST(ReportEfficiency, ARegionInWhichNobodyWorksIsTheRuntimes) {
    Process process = make_process(0, 0);
    for (ThreadModel &thread : process.threads)
        thread.intervals = {{0, 900, State::program, 0}, {900, 1000, State::outside, 0}};
    add_region(process, 0, 1000);
    expect_openmp(efficiencies_of(job_of({process}), kWhole).job.spent, 1, 1, 0.9);
}

TEST(ReportEfficiency, AThreadThatRunsAnotherTaskIsUsefulWhileOneWaits) {
    // Task 1 is in MPI_Recv from 100 to 900. Its thread runs task 2 meanwhile.
    Process process = make_process(0, 2);
    run(process, 1, 0, 0, 0, 0, 1000);
    process.tasks[1].running = 200;
    run(process, 2, 0, 0, 100, 100, 900);
    process.threads[0].intervals = {
        {0, 100, State::task, 1}, {100, 900, State::task, 2}, {900, 1000, State::task, 1}};
    process.threads[1].intervals = {{0, 1000, State::outside, 0}};
    process.calls.push_back(call(1, kReceive, 1, 100, 900, 100));
    add_region(process, 0, 1000);
    const Efficiencies found = efficiencies_of(job_of({process}), kWhole);
    EXPECT_EQ(found.job.spent.useful, 1000);
    // The other thread could have run it, but for the message.
    EXPECT_EQ(found.job.spent.mpi, 800);
    EXPECT_EQ(found.job.spent.imbalance, 200);
    EXPECT_NE(found.undivided.find("in tasks"), std::string::npos);
}

TEST(ReportEfficiency, OutsideOfTasksAllThreadsWait) {
    Process process = make_process(0, 0);
    process.threads[0].intervals = {{0, 1000, State::program, 0}};
    process.threads[1].intervals = {{0, 1000, State::outside, 0}};
    process.calls.push_back(call(0, kReceive, 1, 100, 900, 0));
    const sennit::Spent spent = efficiencies_of(job_of({process}), kWhole).job.spent;
    EXPECT_EQ(spent.useful, 200);
    EXPECT_EQ(spent.mpi, 2 * 800);
    EXPECT_EQ(spent.serial, 200);
    EXPECT_NEAR(spent.mpi_part(), 0.2, 0.001);
}

TEST(ReportEfficiency, TasksThatWaitKeepAsManyThreadsFromWork) {
    // Tasks 1 and 2 wait from 100 on; the second one is bound to its completion at 600.
    Process process = make_process(0, 2);
    run(process, 1, 0, 0, 0, 0, 1000);
    process.tasks[1].running = 100;
    run(process, 2, 1, 0, 0, 0, 100);
    process.tasks[2].completed = 600;
    process.threads[0].intervals = {{0, 100, State::task, 1}, {100, 1000, State::outside, 0}};
    process.threads[1].intervals = {{0, 100, State::task, 2}, {100, 1000, State::outside, 0}};
    process.calls.push_back(call(2, kReceive, 1, 50, 50, 50));
    process.calls.back().post = true;
    process.calls.back().bound = 2;
    process.calls.push_back(call(1, kReceive, 1, 100, 1000, 100));
    const sennit::Spent spent = efficiencies_of(job_of({process}), kWhole).job.spent;
    EXPECT_EQ(spent.useful, 200);
    EXPECT_EQ(spent.mpi, 1800);
}

TEST(ReportEfficiency, AThreadInMpiBesideOthersThatWork) {
    Process process = make_process(0, 0);
    for (ThreadModel &thread : process.threads)
        thread.intervals = {{0, 1000, State::program, 0}};
    add_region(process, 0, 1000);
    meet(process, 600, 1000);
    const Efficiencies found = efficiencies_of(job_of({process}), kWhole);
    EXPECT_EQ(found.job.spent.mpi, 400);
    EXPECT_EQ(found.job.spent.useful, 1600);
    EXPECT_NE(found.undivided.find("compute while another one"), std::string::npos);
}

TEST(ReportEfficiency, OfPhases) {
    Job job = job_of({sequence(0), sequence(1)});
    for (Process &process : job.processes) {
        process.file.names[50] = "solve";
        process.calls.push_back(call(0, kNeither, -1, 200, 800, 0));
        process.calls.back().name = 50;
        // Of another thread, at once; and what is in a phase is no work of MPI's.
        process.calls.push_back(process.calls.back());
    }
    meet(job.processes[1], 500, 800);
    const Efficiencies found = efficiencies_of(job, kWhole);
    ASSERT_EQ(found.phases.size(), 1u);
    const Efficiency &phase = found.phases[0];
    EXPECT_EQ(phase.name, "phase solve");
    EXPECT_EQ(phase.spent.total(), 1200);
    EXPECT_NEAR(phase.spent.parallel(), 0.75, 0.001);
    EXPECT_NEAR(phase.rank_balance, 0.75, 0.001);
    EXPECT_NEAR(phase.communication, 1, 0.001);
    EXPECT_EQ(divide_time(job.processes[0], kWhole)[0].program_mpi, 0);
}

TEST(ReportEfficiency, ARankThatIsShorterInAPhaseWaitsForTheLongest) {
    Job job = job_of({sequence(0), sequence(1)});
    for (Process &process : job.processes) {
        process.file.names[50] = "solve";
        const Ns end = process.rank == 0 ? 1000 : 200;
        process.calls.push_back(call(0, kNeither, -1, 0, end, 0));
        process.calls.back().name = 50;
    }
    const Efficiency phase = efficiencies_of(job, kWhole).phases.at(0);
    EXPECT_NEAR(phase.rank_balance, 0.6, 0.001);
    EXPECT_NEAR(phase.communication, 1, 0.001);
    EXPECT_NEAR(phase.spent.mpi_part(), 0.6, 0.001);
    EXPECT_NEAR(phase.spent.openmp(), 1, 0.001);
}

TEST(ReportEfficiency, AMeetingThatOneRankComesToBehindTheWindow) {
    Job job = job_of({sequence(0), sequence(1)});
    meet(job.processes[0], 400, 500);
    meet(job.processes[1], 300, 500);
    meet(job.processes[0], 1000, 1200);
    meet(job.processes[1], 600, 1200);
    const Efficiencies found = efficiencies_of(job, {0, 900});
    ASSERT_TRUE(found.transfer.has_value()) << found.undivided;
    // Rank 0 computes 400 + 400; rank 1 waits for it, and then for the end.
    EXPECT_NEAR(*found.transfer, 800.0 / 900, 0.001);
    EXPECT_NEAR(*found.serialization, 1, 0.001);
}

TEST(ReportEfficiency, AMeetingThatOneRankHasLeftBeforeTheWindow) {
    // Rank 0 gives others something, and goes on at once.
    Job job = job_of({sequence(0), sequence(1)});
    meet(job.processes[0], 50, 60);
    meet(job.processes[1], 50, 200);
    meet(job.processes[0], 900, 1000);
    meet(job.processes[1], 400, 1000);
    const Efficiencies found = efficiencies_of(job, {100, 1000});
    ASSERT_TRUE(found.transfer.has_value()) << found.undivided;
    EXPECT_NEAR(*found.transfer, 800.0 / 900, 0.001);
}

TEST(ReportEfficiency, AMessageThatIsSentBehindTheWindow) {
    Job job = job_of({sequence(0), sequence(1)});
    add_message(job, 0, 1000, 1, 300, 1100);
    const Efficiencies found = efficiencies_of(job, {0, 800});
    ASSERT_TRUE(found.transfer.has_value()) << found.undivided;
    EXPECT_NEAR(*found.transfer, 1, 0.001);
    EXPECT_NEAR(found.job.rank_balance, 550.0 / 800, 0.001);
}

TEST(ReportEfficiency, CommunicatorsOfTheSameRanksHaveTheirMeetingsTogether) {
    // Rank 1 knows the same ranks by another number, and by their list.
    Job job = job_of({sequence(0), sequence(1)});
    Process &one = job.processes[1];
    one.file.groups[kWorld + 1] = {
        2,
        {0, 1},
        "",
    };
    meet(job.processes[0], 500, 1000);
    meet(one, 200, 1000);
    one.calls.back().group = kWorld + 1;
    const Efficiencies found = efficiencies_of(job, kWhole);
    ASSERT_TRUE(found.transfer.has_value()) << found.undivided;
    EXPECT_NEAR(*found.transfer, 0.5, 0.001);
}

TEST(ReportEfficiency, IsOneWhereNothingIsLostAndNoneWhereNothingRuns) {
    const Efficiencies alone = efficiencies_of(job_of({sequence(0)}), kWhole);
    expect_mpi(alone, 1, 1, 1, 1);
    expect_openmp(alone.job.spent, 1, 1, 1);
    const Efficiencies none = efficiencies_of(job_of({}), kWhole);
    EXPECT_EQ(none.job.spent.total(), 0);
    EXPECT_EQ(none.job.spent.parallel(), 1);
}

TEST(ReportEfficiency, IsNotDividedWhereTheIdealNetworkIsNotKnown) {
    Process process = sequence(0);
    meet(process, 100, 200); // of two ranks; one is in the trace
    EXPECT_NE(why_not(process).find("missing"), std::string::npos);
    process.file.groups.clear();
    EXPECT_NE(why_not(process).find("ranks of a MPI_Barrier"), std::string::npos);
    process.file.names[kMeets] = "MPI_Win_fence";
    EXPECT_EQ(why_not(process), "MPI_Win_fence is not replayed");
    process.file.names[kMeets] = "MPI_Waitany";
    EXPECT_NE(why_not(process).find("MPI_Waitany finds"), std::string::npos);
    process = sequence(0);
    process.calls.push_back(call(0, kReceive, kAny, 100, 200, 0));
    EXPECT_NE(why_not(process).find("message of a MPI_Recv"), std::string::npos);
    process.calls[0].open = true;
    EXPECT_NE(why_not(process).find("ends within"), std::string::npos);
    process = make_process(0, 0);
    for (ThreadModel &thread : process.threads)
        thread.intervals = {{0, 1000, State::program, 0}};
    process.calls = {call(0, kSend, 1, 100, 200, 0), call(0, kSend, 1, 300, 400, 0)};
    process.calls[1].thread = 1;
    EXPECT_NE(why_not(process).find("several threads"), std::string::npos);
}
