// SPDX-License-Identifier: Apache-2.0
// node/board.h: which process of a job ends it, if several find at once that it cannot go on.
#include "node/board.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using sennit::node::Ending;

constexpr std::uint64_t kJob = 12345;
constexpr timespec kMoment{0, 1'000'000};
constexpr timespec kLong{3600, 0};

// In memory that processes share.
struct Shared {
    Ending ending;
    std::atomic<int> ends; // how many are ending the job
};
class Endings : public testing::Test {
  protected:
    void SetUp() override {
        void *const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        shared_ = new (memory) Shared{};
    }
    void TearDown() override { munmap(shared_, sizeof(Shared)); }

    // A process that claims, and then neither ends the job nor itself.
    pid_t claim_elsewhere(const timespec &patience) {
        const pid_t pid = fork();
        if (pid != 0)
            return pid;
        shared_->ending.claim(kJob, patience);
        ++shared_->ends;
        for (;;)
            pause();
    }
    void wait_for_ends(int number) {
        while (shared_->ends < number)
            std::this_thread::yield();
    }
    static void kill_it(pid_t pid) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }

    Shared *shared_ = nullptr;
};

TEST_F(Endings, OneOfSeveralEndsTheJob) {
    std::vector<pid_t> claimers;
    for (int i = 0; i < 4; ++i)
        claimers.push_back(claim_elsewhere(kLong));
    wait_for_ends(1);
    for (int i = 0; i < 100; ++i)
        nanosleep(&kMoment, nullptr);
    EXPECT_EQ(shared_->ends, 1);
    for (const pid_t pid : claimers)
        kill_it(pid);
}

TEST_F(Endings, IfThatOneDiesOneAfterTheOtherIsNext) {
    const pid_t first = claim_elsewhere(kLong);
    wait_for_ends(1);
    kill_it(first);
    std::vector<pid_t> others;
    for (int i = 0; i < 3; ++i)
        others.push_back(claim_elsewhere(kMoment));
    wait_for_ends(4);
    for (const pid_t pid : others)
        kill_it(pid);
}

TEST_F(Endings, WhatAJobBeforeHasClaimedIsOver) {
    shared_->ending.claim(kJob, kLong);
    shared_->ending.claim(kJob, kMoment);
    shared_->ending.claim(987654321, kLong);
    shared_->ending.claim(987654321, kMoment);
}

} // namespace
