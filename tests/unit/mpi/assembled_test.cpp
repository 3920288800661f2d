// SPDX-License-Identifier: Apache-2.0
// mpi/crowd/assembled.h: collective calls of a rank in memory that the node's ranks share. This
// process is rank 0; what the others do to the assembly, the tests do.
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

using namespace sennit;
using namespace sennit::mpi;

namespace {

constexpr int kRanks = 3;

class AssembledTest : public testing::Test {
  protected:
    void SetUp() override {
        fake::reset();
        fake::rung_slots();
        folder_ = std::filesystem::temp_directory_path() / "sennit-assembled-XXXXXX";
        ASSERT_NE(mkdtemp(folder_.data()), nullptr);
        node::Reason reason;
        ASSERT_TRUE(board_.open((folder_ + "/board").c_str(), reason)) << reason.text;
        for (int rank = 0; rank < kRanks; ++rank)
            ASSERT_NE(board_.join(7, {}), nullptr);
        assembly_->begin(kRanks);
        ASSERT_TRUE(g_crowd.assembled.prepare(board_, MPI_COMM_WORLD, ranks_.get()));
        g_crowd.assembled.begin(*assembly_, MPI_COMM_SELF);
    }
    void TearDown() override {
        g_crowd.assembled.end();
        board_.close();
        std::filesystem::remove_all(folder_);
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
    static Reduction sum_of(const int &in, int &out) {
        Reduction reduction;
        reduction.in = &in;
        reduction.out = &out;
        reduction.count = 1;
        reduction.type = MPI_INT;
        reduction.op = MPI_SUM;
        EXPECT_TRUE(reduction.fits(node::Assembly::kMostBytes));
        return reduction;
    }

    KnownRanks ranks_{kRanks};
    node::Board board_;
    std::unique_ptr<node::Assembly> assembly_ = std::make_unique<node::Assembly>();
    const Reduction none_;
    std::string folder_;

  private:
    static std::uint32_t g_number;
};
std::uint32_t AssembledTest::g_number = 0;

bool has_rung_all() {
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
void wait_in_vain(AssembledCall &call, std::int64_t seconds) {
    const timespec nap = {0, 1'000'000};
    for (std::int64_t i = 0; i < seconds * 1000; ++i) {
        ASSERT_FALSE(call.test());
        nanosleep(&nap, nullptr);
    }
}

} // namespace

TEST_F(AssembledTest, TheLastOneToComeWorksTheResultOutAndWakesAll) {
    const std::uint32_t number = next();
    const int mine = 5;
    int sum = 0;
    const Reduction reduction = sum_of(mine, sum);
    AssembledCall call(g_crowd.assembled, "MPI_Allreduce", reduction);
    EXPECT_FALSE(others_come(number, reduction, 100));
    EXPECT_TRUE(call.test());
    EXPECT_EQ(sum, 205);
    EXPECT_TRUE(has_rung_all());
}

TEST_F(AssembledTest, WhoComesEarlierTakesTheResultAndWakesNobody) {
    const std::uint32_t number = next();
    const int mine = 5;
    int sum = 0;
    const Reduction reduction = sum_of(mine, sum);
    AssembledCall call(g_crowd.assembled, "MPI_Allreduce", reduction);
    EXPECT_FALSE(call.test());
    EXPECT_FALSE(call.test()) << "it counts itself once";
    EXPECT_TRUE(others_come(number, reduction, 7));
    EXPECT_TRUE(call.test());
    EXPECT_EQ(sum, 7);
    EXPECT_TRUE(fake::rung_slots().empty());
}

TEST_F(AssembledTest, WhereNothingIsCombinedAllMayGetThePartsOfAll) {
    for (const bool is_last : {false, true}) {
        const std::uint32_t number = next();
        const int mine = 5;
        int all[kRanks] = {};
        Reduction exchange;
        exchange.in = &mine;
        exchange.out = all;
        exchange.bytes = sizeof mine;
        exchange.combines = false;
        exchange.concatenates = true;
        AssembledCall call(g_crowd.assembled, "MPI_Comm_dup", exchange);
        if (!is_last) {
            EXPECT_FALSE(call.test());
        }
        for (int rank = 1; rank < kRanks; ++rank) {
            const int part = 10 * rank;
            std::memcpy(board_.part(rank).bytes, &part, sizeof part);
            if (assembly_->come(board_.part(rank), number, exchange.number())) {
                const int result[kRanks] = {5, 10, 20};
                std::memcpy(assembly_->result(), result, sizeof result);
                assembly_->end(number);
            }
        }
        EXPECT_TRUE(call.test());
        EXPECT_EQ(all[0], 5);
        EXPECT_EQ(all[1], 10);
        EXPECT_EQ(all[2], 20);
    }
}

// Two tasks are in a collective each; who polls may look at the later one first.
TEST_F(AssembledTest, OfTwoCallsTheSecondOneWaitsForTheFirst) {
    const std::uint32_t first = next();
    const std::uint32_t second = next();
    AssembledCall one(g_crowd.assembled, "MPI_Barrier", none_);
    AssembledCall two(g_crowd.assembled, "MPI_Barrier", none_);
    EXPECT_FALSE(two.test());
    EXPECT_FALSE(board_.part(0).has_come(second));
    EXPECT_FALSE(one.test());
    EXPECT_TRUE(board_.part(0).has_come(first));
    EXPECT_FALSE(two.test());
    EXPECT_TRUE(others_come(first, none_));
    EXPECT_FALSE(two.test()) << "this rank is not through with the first one";
    EXPECT_FALSE(board_.part(0).has_come(second));
    fake::rings_own();
    EXPECT_TRUE(one.test());
    EXPECT_EQ(fake::rings_own(), 1) << "the thread of the second one may sleep";
    EXPECT_FALSE(two.test());
    EXPECT_TRUE(board_.part(0).has_come(second));
    EXPECT_TRUE(others_come(second, none_));
    EXPECT_TRUE(two.test());
    EXPECT_EQ(fake::rings_own(), 0) << "nobody comes after it";
}

TEST_F(AssembledTest, WhileItWaitsMpiGoesOnWithMessages) {
    const std::uint32_t number = next();
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    const int before = fake::probes();
    for (int i = 0; i < 10; ++i)
        EXPECT_FALSE(call.test());
    EXPECT_GE(fake::probes() - before, 5);
    EXPECT_TRUE(others_come(number, none_));
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, CallsThatDifferEndTheJob) {
    const std::uint32_t number = next();
    const int mine = 5;
    int sum = 0;
    const Reduction reduction = sum_of(mine, sum);
    EXPECT_EXIT(
        {
            AssembledCall call(g_crowd.assembled, "MPI_Allreduce", reduction);
            others_come(number, none_);
            call.test();
        },
        testing::ExitedWithCode(77),
        "rank 0 calls MPI_Allreduce \\(.* bytes\\) where rank 1 calls MPI_Barrier \\(0 bytes\\)");
    // In this process the call is still to come. The board is memory of both.
    for (int rank = 0; rank < kRanks; ++rank)
        board_.part(rank).came.store(0);
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    others_come(number, none_);
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, ARankThatHasLeftEndsTheJob) {
    const std::uint32_t number = next();
    Idle other;
    board_.slot(1).holder.store(node::identity_of(other.pid()));
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    wait_in_vain(call, 2); // it lives, and may come
    other.end();
    EXPECT_EXIT(wait_in_vain(call, 4), testing::ExitedWithCode(77),
                "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 1, which has ended without "
                "MPI_Finalize");
    board_.slot(1).holder.store(node::own_identity());
    EXPECT_TRUE(others_come(number, none_));
    EXPECT_TRUE(call.test());
}

TEST_F(AssembledTest, ARankThatIsStoppedIsNamedOnce) {
    const std::uint32_t number = next();
    const Idle other;
    other.stop();
    board_.slot(2).holder.store(node::identity_of(other.pid()));
    AssembledCall call(g_crowd.assembled, "MPI_Barrier", none_);
    testing::internal::CaptureStderr();
    wait_in_vain(call, 5);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said, "sennit: rank 0 waits in MPI_Barrier on MPI_COMM_WORLD for rank 2 (process " +
                        std::to_string(other.pid()) +
                        "), which is stopped, by a signal or a debugger\n");
    board_.slot(2).holder.store(node::own_identity());
    EXPECT_TRUE(others_come(number, none_));
    EXPECT_TRUE(call.test());
}
