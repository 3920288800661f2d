// SPDX-License-Identifier: Apache-2.0
// mpi/engine/send_queue.h: few long sends are under way, the urgent ones go first, and those of one
// channel stay in their order.
#include "fake.h"
#include "mpi/call/errors.h"
#include "mpi/engine/send_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

using namespace sennit::mpi;

namespace {

class SendQueueTest : public testing::Test {
  protected:
    SendQueueTest() {
        fake::reset();
        s_started.clear();
        s_fails = -1;
    }

    static constexpr std::int64_t kLong = Urgency::kLongMessage;

    struct Send : Ticket {
        int number = 0;
    };
    // The next send of the program's, of which `at_once` may be under way. Started at once, or
    // queued.
    Send &send(int peer, int tag, std::uint64_t key, int at_once = 1, std::int64_t count = kLong) {
        Send &send = sends_.emplace_back();
        send.number = static_cast<int>(sends_.size()) - 1;
        send.task = fake::task(send.number);
        send.operation = {"MPI_Send", Notice::send, peer, tag, communicator(MPI_COMM_WORLD),
                          {},         count};
        send.closure = &send;
        send.start = [](void *closure, MPI_Request *request) {
            const Send &self = *static_cast<Send *>(closure);
            s_started.push_back(self.number);
            if (self.number == s_fails)
                return MPI_ERR_OTHER;
            *request = fake::make_request();
            return MPI_SUCCESS;
        };
        fake::order_sends(at_once, key);
        const bool queued = queue_.must_queue(send.operation, send);
        tickets_.begin_pending();
        if (queued) {
            queue_.push(send);
        } else {
            if (!queue_.empty())
                queue_.let_pass(peer, tag, send.operation.object);
            send.start(send.closure, &send.request);
            tickets_.file(send);
        }
        return send;
    }
    // A turn of whoever tests. Time stands still, so that patience (flow.h) is never lost.
    int turn() {
        EXPECT_TRUE(tickets_.take_token());
        const QuietTests quiet;
        const int done = tickets_.test() + queue_.start([]() -> std::int64_t { return 1; });
        tickets_.release_token();
        return done;
    }

    static inline std::vector<int> s_started;
    static inline int s_fails = -1;

    Flow flow_;
    Urgency urgency_;
    Tickets tickets_{flow_};
    SendQueue queue_{flow_, tickets_, urgency_};
    std::deque<Send> sends_;
};

using Order = std::vector<int>;

} // namespace

TEST_F(SendQueueTest, ShortSendsNeverWait) {
    send(1, 0, 5);
    send(1, 1, 5, 1, kLong - 1);
    send(1, 2, 5, 1, 1);
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(s_started, (Order{0, 1, 2}));
}

TEST_F(SendQueueTest, WithoutAPolicyNoneWaits) {
    for (int i = 0; i < 10; ++i)
        send(1, i, 5, 0);
    EXPECT_TRUE(queue_.empty());
}

TEST_F(SendQueueTest, SoManyAreUnderWayAsThePolicySays) {
    for (int i = 0; i < 5; ++i)
        send(1, i, 5, 2);
    turn();
    EXPECT_EQ(s_started, (Order{0, 1}));
    fake::complete(sends_[0].request);
    turn();
    EXPECT_EQ(s_started, (Order{0, 1, 2}));
    EXPECT_EQ(fake::resumed(), (Order{0}));
}

TEST_F(SendQueueTest, TheLeastKeyGoesFirst) {
    send(1, 0, 9);
    send(1, 1, 7);
    send(1, 2, 3);
    send(1, 3, 5);
    for (const int next : {2, 3, 1}) {
        fake::complete(sends_[static_cast<std::size_t>(s_started.back())].request);
        turn();
        EXPECT_EQ(s_started.back(), next);
    }
}

TEST_F(SendQueueTest, AmongEqualsTheOldestGoesFirst) {
    for (int i = 0; i < 4; ++i)
        send(1, i, 5);
    for (const int next : {1, 2, 3}) {
        fake::complete(sends_[static_cast<std::size_t>(s_started.back())].request);
        turn();
        EXPECT_EQ(s_started.back(), next);
    }
}

TEST_F(SendQueueTest, OnAChannelNoneOvertakes) {
    send(1, 0, 5); // under way
    send(1, 7, 9); // 1 and 3 are of one channel
    send(2, 7, 4);
    send(1, 7, 1);
    for (const int next : {1, 3, 2}) { // 3 is urgent, so 1 goes first
        fake::complete(sends_[static_cast<std::size_t>(s_started.back())].request);
        turn();
        EXPECT_EQ(s_started.back(), next);
    }
}

TEST_F(SendQueueTest, ASendThatNeedNotWaitPassesNoneOfItsChannel) {
    send(1, 0, 5);
    send(1, 7, 5);
    send(1, 7, 5);
    send(2, 7, 5);
    send(1, 7, 5, 1, 1); // short
    EXPECT_EQ(s_started, (Order{0, 1, 2, 4}));
    EXPECT_FALSE(queue_.empty()) << "that to another rank waits on";
    int seen = 0;
    queue_.visit([&](const Ticket &ticket) { seen += ticket.operation.peer; });
    EXPECT_EQ(seen, 2);
}

TEST_F(SendQueueTest, WithoutATagItPassesNoneToItsPeer) {
    send(1, 0, 5);
    send(1, 7, 5);
    send(1, 8, 5);
    send(2, 8, 5);
    queue_.let_pass(1, -1, {});
    EXPECT_EQ(s_started, (Order{0, 1, 2}));
}

TEST_F(SendQueueTest, OneThatCannotBeStartedIsOver) {
    send(1, 0, 5);
    Send &bad = send(1, 1, 5);
    Send &good = send(1, 2, 5);
    s_fails = 1;
    fake::complete(sends_[0].request);
    turn();
    EXPECT_EQ(bad.error, MPI_ERR_OTHER);
    EXPECT_EQ(fake::resumed(bad.task), 1);
    EXPECT_EQ(s_started, (Order{0, 1, 2})) << "it has made room for the next";
    fake::complete(good.request);
    turn();
    EXPECT_EQ(fake::resumed(good.task), 1);
    EXPECT_EQ(fake::pending(), 0);
}

TEST_F(SendQueueTest, ThatFailsWhenItIsPassedIsOverAtTheNextTest) {
    send(1, 0, 5);
    Send &bad = send(1, 7, 5);
    s_fails = 1;
    send(1, 7, 5, 1, 1);
    EXPECT_EQ(bad.error, MPI_ERR_OTHER);
    turn();
    EXPECT_EQ(fake::resumed(bad.task), 1);
}

TEST_F(SendQueueTest, AnyNumberMayWait) {
    constexpr int kSends = 1000;
    for (int i = 0; i < kSends; ++i)
        send(i % 3, i % 5, static_cast<std::uint64_t>(i * 7919 % 101));
    std::vector<int> last(15, -1);
    for (int turns = 0; tickets_.pending() > 0 && turns < 10 * kSends; ++turns) {
        for (Send &one : sends_)
            if (one.request != MPI_REQUEST_NULL && fake::resumed(one.task) == 0)
                fake::complete(one.request);
        turn();
    }
    EXPECT_EQ(s_started.size(), std::size_t{kSends});
    for (const int number : s_started) {
        int &before = last[static_cast<std::size_t>(number % 15)];
        EXPECT_LT(before, number) << "overtaken on its channel";
        before = number;
    }
}
