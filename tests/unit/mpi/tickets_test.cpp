// SPDX-License-Identifier: Apache-2.0
// mpi/engine/tickets.h: who filed a ticket is told once that it is over, and what of, however many
// there are and whoever tests.
#include "fake.h"
#include "mpi/call/errors.h"
#include "mpi/chaos/chaos.h"
#include "mpi/engine/tickets.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <random>
#include <set>
#include <thread>
#include <vector>

using namespace sennit::mpi;

namespace {

class TicketsTest : public testing::Test {
  protected:
    TicketsTest() { fake::reset(); }
    ~TicketsTest() override { g_chaos.configure(nullptr); }

    // A ticket of task `number`, with a request.
    Ticket &file(int number) {
        Ticket &ticket = all_.emplace_back();
        ticket.task = fake::task(number);
        ticket.request = fake::make_request();
        tickets_.begin_pending();
        tickets_.file(ticket);
        return ticket;
    }
    // A turn of whoever tests.
    int turn() {
        if (!tickets_.take_token())
            return 0;
        const QuietTests quiet;
        const int done = tickets_.test() + (g_chaos.on() ? tickets_.finish_late() : 0);
        tickets_.release_token();
        return done;
    }
    int turns_until_over() {
        int turns = 0;
        for (; tickets_.pending() > 0 && turns < 100'000; ++turns)
            turn();
        return turns;
    }

    Flow flow_;
    Tickets tickets_{flow_};
    std::deque<Ticket> all_; // where they are, they stay
};

} // namespace

TEST_F(TicketsTest, ATaskIsResumedWhenItsRequestIsComplete) {
    MPI_Status status{};
    status.MPI_ERROR = 4711; // calls for one request leave it alone
    Ticket &ticket = file(1);
    const MPI_Request request = ticket.request;
    ticket.status = &status;
    EXPECT_EQ(turn(), 0);
    EXPECT_EQ(fake::resumed(ticket.task), 0);
    EXPECT_EQ(fake::pending(), 1);
    fake::complete(request, MPI_SUCCESS, 24);
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(fake::resumed(ticket.task), 1);
    EXPECT_EQ(fake::pending(), 0);
    EXPECT_EQ(ticket.error, MPI_SUCCESS);
    EXPECT_EQ(status.bytes, 24);
    EXPECT_EQ(status.MPI_TAG, request);
    EXPECT_EQ(status.MPI_ERROR, 4711);
}

TEST_F(TicketsTest, TheProgramsHandleIsWrittenBack) {
    Ticket &ticket = file(1);
    MPI_Request handle = ticket.request;
    ticket.handle = &handle;
    fake::complete(handle);
    EXPECT_EQ(turn(), 1);
    EXPECT_EQ(handle, MPI_REQUEST_NULL);
}

TEST_F(TicketsTest, AFailureIsToldToItsOwnTicket) {
    Ticket &good = file(1);
    Ticket &bad = file(2);
    Ticket &unfinished = file(3);
    fake::complete(good.request);
    fake::complete(bad.request, MPI_ERR_TRUNCATE);
    EXPECT_EQ(turn(), 2);
    EXPECT_EQ(good.error, MPI_SUCCESS);
    EXPECT_EQ(bad.error, MPI_ERR_TRUNCATE);
    EXPECT_TRUE(!good.unraised);
    EXPECT_EQ(fake::resumed(unfinished.task), 0);
}

TEST_F(TicketsTest, WhereTestsomeDoesNotSayWhichFailedAllAreAsked) {
    fake::hide_failures(true);
    std::vector<Ticket *> tickets;
    for (int i = 0; i < 10; ++i)
        tickets.push_back(&file(i));
    fake::complete(tickets[3]->request, MPI_ERR_OTHER);
    fake::complete(tickets[7]->request, MPI_ERR_TRUNCATE);
    for (int i = 0; i < 4; ++i)
        turn();
    EXPECT_EQ(tickets[3]->error, MPI_ERR_OTHER);
    EXPECT_EQ(tickets[7]->error, MPI_ERR_TRUNCATE);
    EXPECT_EQ(tickets_.pending(), 8);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(fake::resumed(fake::task(i)), i == 3 || i == 7);
}

TEST_F(TicketsTest, ATicketMayHaveATestOfItsOwn) {
    struct Special : Ticket {
        int left = 3;
    } ticket;
    ticket.task = fake::task(1);
    ticket.test = [](Ticket &base) {
        auto &self = static_cast<Special &>(base);
        self.error = MPI_ERR_OTHER;
        return --self.left == 0;
    };
    tickets_.begin_pending();
    tickets_.file(ticket);
    EXPECT_EQ(turns_until_over(), 3);
    EXPECT_EQ(fake::resumed(ticket.task), 1);
    EXPECT_EQ(ticket.error, MPI_ERR_OTHER);
}

TEST_F(TicketsTest, WhatCallsBackIsCalledOutsideOfTheTokenOldestFirst) {
    static std::vector<Ticket *> called;
    called.clear();
    for (int i = 0; i < 3; ++i)
        file(i).finished = [](Ticket &ticket) { called.push_back(&ticket); };
    for (Ticket &ticket : all_)
        fake::complete(ticket.request);
    ASSERT_TRUE(tickets_.take_token());
    EXPECT_EQ(tickets_.test(), 3);
    EXPECT_TRUE(called.empty()) << "called by who still tests";
    tickets_.release_token();
    while (Ticket *ticket = tickets_.take_to_call(Tickets::Which::any)) {
        EXPECT_TRUE(tickets_.take_token()) << "nobody can test while it is called";
        tickets_.release_token();
        ticket->finished(*ticket);
        tickets_.end_pending();
    }
    ASSERT_EQ(called.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(called[i], &all_[i]);
    EXPECT_TRUE(fake::resumed().empty()) << "nobody waits for them";
    EXPECT_EQ(fake::pending(), 0);
}

TEST_F(TicketsTest, AnyNumberIsKeptAndEachIsOverOnce) {
    constexpr int kTickets = 5000; // more than the arrays begin with
    std::vector<MPI_Request> requests;
    for (int i = 0; i < kTickets; ++i)
        requests.push_back(file(i).request);
    std::mt19937 random(1);
    std::shuffle(requests.begin(), requests.end(), random);
    for (int i = 0; i < kTickets; ++i) {
        fake::complete(requests[static_cast<std::size_t>(i)]);
        if (i % 7 == 0)
            turn();
    }
    turns_until_over();
    EXPECT_EQ(tickets_.pending(), 0);
    for (int i = 0; i < kTickets; ++i)
        ASSERT_EQ(fake::resumed(fake::task(i)), 1) << i;
}

TEST_F(TicketsTest, ATurnTestsAFew) {
    for (int i = 0; i < 5000; ++i)
        file(i);
    turn();
    const int before = fake::tests();
    for (int i = 0; i < 100; ++i)
        turn();
    EXPECT_LE(fake::tests() - before,
              100 * (Rotation::kYoung + Rotation::kMostBatches * Rotation::kBatch));
}

TEST_F(TicketsTest, WhoHoldsTheTokenKeepsOthersFromTesting) {
    fake::complete(file(1).request);
    ASSERT_TRUE(tickets_.hold_token());
    std::thread([&] { EXPECT_EQ(turn(), 0); }).join();
    EXPECT_EQ(fake::tests(), 0);
    int seen = 0;
    tickets_.visit([&](const Ticket &) { ++seen; });
    EXPECT_EQ(seen, 1);
    tickets_.release_token();
    EXPECT_EQ(turn(), 1);
}

// ---- SENNIT_CHAOS -------------------------------------------------------------------------------

TEST_F(TicketsTest, ChaosOrderIsThatOfItsSeed) {
    const auto order = [&](const char *option) {
        fake::reset();
        g_chaos.configure(option);
        std::vector<MPI_Request> requests;
        for (int i = 0; i < 12; ++i)
            requests.push_back(file(i).request);
        for (const MPI_Request request : requests)
            fake::complete(request);
        turns_until_over();
        return fake::resumed();
    };
    const std::vector<int> plain = order(nullptr);
    EXPECT_TRUE(std::is_sorted(plain.begin(), plain.end()));
    const std::vector<int> one = order("seed:1,order");
    EXPECT_EQ(one, order("seed:1,order"));
    EXPECT_NE(one, order("seed:2,order"));
    EXPECT_NE(one, plain);
    EXPECT_EQ(std::set<int>(one.begin(), one.end()).size(), 12u);
}

TEST_F(TicketsTest, ChaosLatencyKeepsWhatIsOver) {
    g_chaos.configure("seed:1,latency:60000000"); // a minute
    Ticket &ticket = file(1);
    fake::complete(ticket.request);
    for (int i = 0; i < 10; ++i)
        turn();
    EXPECT_EQ(fake::resumed(ticket.task), 0);
    EXPECT_EQ(tickets_.pending(), 1);
}

TEST_F(TicketsTest, ChaosLatencyEnds) {
    g_chaos.configure("seed:1,latency:0,bandwidth:1000000");
    Ticket &ticket = file(1);
    ticket.operation.notice = Notice::receive;
    fake::complete(ticket.request, MPI_SUCCESS, 100);
    while (tickets_.pending() > 0)
        turn();
    EXPECT_EQ(fake::resumed(ticket.task), 1);
}

// ---- several threads ----------------------------------------------------------------------------

TEST_F(TicketsTest, StressTwoThreadsTestWhileOthersFile) {
    constexpr int kFilers = 2, kTesters = 2, kEach = 4000;
    std::deque<Ticket> own[kFilers];
    std::atomic<int> filing{kFilers};
    std::vector<std::thread> threads;
    for (int filer = 0; filer < kFilers; ++filer)
        threads.emplace_back([&, filer] {
            for (int i = 0; i < kEach; ++i) {
                Ticket &ticket = own[filer].emplace_back();
                ticket.task = fake::task(filer * kEach + i);
                const MPI_Request request = ticket.request = fake::make_request();
                if (i % 3 == 0)
                    fake::complete(request);
                tickets_.begin_pending();
                tickets_.file(ticket); // it may be over when this returns
                if (i % 3 != 0)
                    fake::complete(request);
            }
            --filing;
        });
    for (int tester = 0; tester < kTesters; ++tester)
        threads.emplace_back([&] {
            while (filing.load() > 0 || tickets_.pending() > 0)
                if (turn() == 0)
                    std::this_thread::yield();
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(fake::most_testers(), 1) << "two threads tested at once";
    EXPECT_EQ(fake::pending(), 0);
    for (int i = 0; i < kFilers * kEach; ++i)
        ASSERT_EQ(fake::resumed(fake::task(i)), 1) << i;
}

// What is_sound() refuses: a ticket in another state, or with another request, than its list says.
TEST_F(TicketsTest, WhatTheListsDoNotSayIsSeen) {
    Ticket &first = file(1);
    Ticket &second = file(2);
    EXPECT_EQ(turn(), 0);
    EXPECT_TRUE(tickets_.is_sound());
    std::swap(first.request, second.request);
    EXPECT_FALSE(tickets_.is_sound());
    std::swap(first.request, second.request);
    first.state.restart(TicketState::over);
    EXPECT_FALSE(tickets_.is_sound());
    first.state.restart(TicketState::tested);
    EXPECT_TRUE(tickets_.is_sound());
}
