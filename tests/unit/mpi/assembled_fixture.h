// SPDX-License-Identifier: Apache-2.0
// For tests of collective calls of a rank in memory that the node's ranks share
// (mpi/crowd/assembled.h). This process is rank 0; what the others do to the assembly, the tests
// do.
#pragma once

#include "mpi/crowd/crowd.h"

#include "node/identity.h"

#include "fake.h"
#include "known_ranks.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace sennit::mpi {

constexpr int kRanks = 3;

inline bool has_rung_all() {
    bool found = false;
    for (const int slot : fake::rung_slots())
        found |= slot == -1;
    return found;
}

// A process that does nothing; it ends with the object.
class Idle {
  public:
    Idle() : pid_(fork()) {
        if (pid_ == 0)
            for (;;)
                pause();
    }
    ~Idle() { end(); }
    Idle(const Idle &) = delete;
    Idle &operator=(const Idle &) = delete;
    int pid() const { return pid_; }
    void end() {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        pid_ = -1;
    }
    void stop() const {
        kill(pid_, SIGSTOP);
        int status = 0;
        waitpid(pid_, &status, WUNTRACED);
    }

  private:
    int pid_;
};

// Long enough to look twice for who has not come.
template <class Call>
void wait_in_vain(Call &call, std::int64_t seconds) {
    const timespec nap = {0, 1'000'000};
    for (std::int64_t i = 0; i < seconds * 1000; ++i) {
        ASSERT_FALSE(call.test());
        nanosleep(&nap, nullptr);
    }
}

// A board of its own, which kRanks ranks have joined.
class BoardTest : public testing::Test {
  protected:
    static constexpr std::uint64_t kJob = 7;

    void SetUp() override {
        fake::reset();
        fake::rung_slots();
        folder_ = std::filesystem::temp_directory_path() / "sennit-board-XXXXXX";
        ASSERT_NE(mkdtemp(folder_.data()), nullptr);
        node::Reason reason;
        ASSERT_TRUE(board_.open((folder_ + "/board").c_str(), reason)) << reason.text;
        for (int rank = 0; rank < kRanks; ++rank)
            ASSERT_NE(board_.join(kJob, {}), nullptr);
    }
    void TearDown() override {
        board_.close();
        std::filesystem::remove_all(folder_);
    }

    KnownRanks ranks_{kRanks};
    node::Board board_;

  private:
    std::string folder_;
};

class AssembledTest : public BoardTest {
  protected:
    void SetUp() override {
        BoardTest::SetUp();
        assembly_->begin(kRanks);
        ASSERT_TRUE(g_crowd.assembled.prepare(board_, MPI_COMM_WORLD, ranks_.get()));
        g_crowd.assembled.begin(*assembly_, MPI_COMM_SELF);
    }
    void TearDown() override {
        g_crowd.assembled.end();
        BoardTest::TearDown();
    }

    // What a process did that has exited is still to come here. Only the board is memory of both.
    void clear_parts() {
        for (int rank = 0; rank < kRanks; ++rank)
            board_.part(rank).clear();
    }
    // The calls of this process have numbers of their own; each test begins behind the last one.
    static std::uint32_t next() { return ++g_number; }
    // The other ranks come to a call, with parts of their own; true: the last one ends it.
    bool others_come(std::uint32_t number, const Reduction &reduction, int part = 0) {
        bool last = false;
        for (int rank = 1; rank < kRanks; ++rank) {
            std::memcpy(board_.part(rank).bytes, &part, sizeof part);
            last = assembly_->come(board_.part(rank), number, reduction.number());
        }
        if (last) {
            std::memcpy(assembly_->result(), &part, sizeof part);
            assembly_->end(number);
        }
        return last;
    }
    static Reduction sum_of(const int &in, int &out, int root = -1, int count = 1) {
        Reduction reduction;
        reduction.in = &in;
        reduction.out = &out;
        reduction.count = count;
        reduction.type = MPI_INT;
        reduction.op = MPI_SUM;
        reduction.root = root;
        EXPECT_TRUE(reduction.fits(node::Assembly::kMostBytes));
        return reduction;
    }

    static Broadcast broadcast_of(int &value, int root) {
        Broadcast broadcast(&value, 1, MPI_INT, root);
        EXPECT_TRUE(broadcast.fits(node::Assembly::kMostBytes));
        return broadcast;
    }
    // Another rank is the root of a broadcast of an int.
    void other_posts(std::uint32_t number, int root, int value, int note = 0) {
        std::memcpy(assembly_->note(note).bytes, &value, sizeof value);
        EXPECT_EQ(assembly_->note(note).post(number, broadcast_of(value, root).number()), 0U);
    }
    // Another rank brings its part to a reduction for a root. Returns how many have.
    int other_brings(int rank, std::uint32_t number, const Reduction &reduction, int value,
                     int note = 0, std::size_t offset = 0) {
        node::Assembly::Part &part = board_.part(rank);
        std::memcpy(part.brought + offset, &value, sizeof value);
        EXPECT_EQ(part.posted[note].post(number, reduction.number()), 0U);
        return assembly_->note(note).bring();
    }
    // Others may have left; that rank 1 has ends the job.
    template <class Call>
    void expect_to_wait_for_rank_1_alone(Call &call, const std::string &name) {
        Idle other;
        Idle third;
        board_.slot(1).holder.store(node::identity_of(other.pid()));
        board_.slot(2).holder.store(node::identity_of(third.pid()));
        third.end();
        wait_in_vain(call, 3);
        other.end();
        EXPECT_EXIT(wait_in_vain(call, 4), testing::ExitedWithCode(77),
                    "rank 0 waits in " + name +
                        " on MPI_COMM_WORLD for rank 1, which has ended without MPI_Finalize");
    }
    // This rank is the root of as many broadcasts as there are notes; the last one's number.
    static std::uint32_t take_all_notes(const Broadcast &broadcast) {
        std::uint32_t number = 0;
        for (int i = 0; i < node::Assembly::kNotes; ++i) {
            number = next();
            BroadcastCall call(g_crowd.assembled, "MPI_Bcast", broadcast);
            EXPECT_TRUE(call.test());
        }
        return number;
    }
    // The other ranks are through with the last note; true: the last one ends the call.
    bool others_are_through(std::uint32_t number, std::uint32_t call) {
        bool last = false;
        for (int rank = 1; rank < kRanks; ++rank)
            last = assembly_->come(board_.part(rank), number, call, true);
        if (last)
            assembly_->end(number);
        return last;
    }

    std::unique_ptr<node::Assembly> assembly_ = std::make_unique<node::Assembly>();
    const Reduction none_;

  private:
    static inline std::uint32_t g_number = 0;
};

} // namespace sennit::mpi
