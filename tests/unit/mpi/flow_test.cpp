// SPDX-License-Identifier: Apache-2.0
// mpi/engine/tickets.h: how many sends are under way, on cards and with receivers of different
// kinds.
#include "mpi/engine/tickets.h"

#include <deque>
#include <gtest/gtest.h>

using sennit::mpi::Flow;

namespace {

constexpr std::int64_t kMs = 1'000'000;

// Sends `count` messages, asking every 0.1 ms, over a card that takes `each` for a message; returns
// the most that were under way at once.
int send_over_slow_card(Flow &flow, int count, std::int64_t each, std::int64_t &now) {
    std::deque<Flow::Admission> card;
    int waiting = 0;
    int most = 0;
    for (int i = 0; i < count; ++i) {
        if (const Flow::Admission admission = flow.enter(4))
            card.push_back(admission);
        else
            ++waiting;
    }
    for (std::int64_t next = now + each; !card.empty() || waiting > 0; now += kMs / 10) {
        if (now >= next && !card.empty()) {
            flow.leave(card.front());
            card.pop_front();
            next = now + each;
        }
        while (waiting > 0) {
            const Flow::Admission admission = flow.let_go(now);
            if (!admission)
                break;
            card.push_back(admission);
            --waiting;
        }
        most = std::max(most, static_cast<int>(card.size()));
    }
    return most;
}

// Sends `count` messages to somebody who wants the last one first; returns how long it took until
// the last had been let go.
std::int64_t send_to_the_contrary(Flow &flow, int count, std::int64_t &now) {
    const std::int64_t begun = now;
    std::deque<Flow::Admission> under_way;
    int waiting = 0;
    for (int i = 0; i < count; ++i) {
        if (const Flow::Admission admission = flow.enter(4))
            under_way.push_back(admission);
        else
            ++waiting;
    }
    for (; waiting > 0; now += kMs / 10)
        if (const Flow::Admission admission = flow.let_go(now)) {
            under_way.push_back(admission);
            --waiting;
            now -= kMs / 10;
        }
    const std::int64_t took = now - begun;
    for (; !under_way.empty(); under_way.pop_back())
        flow.leave(under_way.back());
    return took;
}

} // namespace

TEST(Flow, FewAreUnderWay) {
    Flow flow;
    std::int64_t now = 0;
    EXPECT_EQ(send_over_slow_card(flow, 200, 2 * kMs, now), 4);
}

TEST(Flow, PatienceBeginsAnewAfterAPause) {
    Flow flow;
    std::int64_t now = 0;
    for (int time = 0; time < 3; ++time) {
        EXPECT_EQ(send_over_slow_card(flow, 20, 2 * kMs, now), 4);
        now += 1000 * kMs;
    }
}

TEST(Flow, ASlowCardIsGivenMoreTime) {
    Flow flow;
    std::int64_t now = 0;
    for (int time = 0; time < 5; ++time) // it finds out
        send_over_slow_card(flow, 10, 20 * kMs, now);
    EXPECT_EQ(send_over_slow_card(flow, 200, 20 * kMs, now), 4);
}

TEST(Flow, AReceiverWithAnotherOrderIsUnderstood) {
    Flow flow;
    std::int64_t now = 0;
    EXPECT_LE(send_to_the_contrary(flow, 64, now), 20 * kMs);
    std::int64_t later = 0;
    for (int round = 0; round < 100; ++round)
        later += send_to_the_contrary(flow, 64, now);
    EXPECT_LE(later, 60 * kMs); // not one by one, and not anew each time
}

TEST(Flow, AWantedSendPassesThoseThatWaitForTheirReceivers) {
    Flow flow;
    flow.queue_all(4);
    for (int i = 0; i < 4; ++i)
        ASSERT_NE(flow.let_go(0), 0u);
    EXPECT_EQ(flow.let_go(0), 0u);
    const Flow::Admission wanted = flow.let_go(0, true);
    EXPECT_NE(wanted, 0u);
    EXPECT_NE(flow.let_go(0, true), 0u);
    EXPECT_EQ(flow.let_go(0, true), 0u); // they have an order, too
    flow.leave(wanted);
    EXPECT_NE(flow.let_go(0, true), 0u);
}

TEST(Flow, AsLongAsWantedSendsLeaveTheOthersWait) {
    Flow flow;
    flow.queue_all(4);
    std::int64_t now = 0;
    for (int i = 0; i < 4; ++i)
        ASSERT_NE(flow.let_go(now), 0u);
    for (; now < 100 * kMs; now += 2 * kMs) {
        ASSERT_EQ(flow.let_go(now), 0u);
        const Flow::Admission wanted = flow.let_go(now, true);
        ASSERT_NE(wanted, 0u);
        flow.leave(wanted);
    }
    EXPECT_EQ(flow.let_go(now), 0u); // one has just left
    EXPECT_NE(flow.let_go(now + 10 * kMs), 0u);
}

TEST(Flow, WhatWasToldOfAnotherMessageBlocksNobody) {
    Flow flow;
    flow.queue_all(4);
    for (int i = 0; i < 2; ++i)
        ASSERT_NE(flow.let_go(0, true), 0u); // and their receivers do not want them
    ASSERT_EQ(flow.let_go(0, true), 0u);
    EXPECT_NE(flow.let_go(100 * kMs, true), 0u);
    EXPECT_NE(flow.let_go(100 * kMs), 0u);
}

TEST(Flow, WhatIsOverIsForgottenInTheEnd) {
    Flow flow;
    std::int64_t now = 0;
    send_to_the_contrary(flow, 64, now);
    EXPECT_GT(flow.limit(), 4);
    for (int time = 0; time < 20; ++time)
        send_over_slow_card(flow, 200, kMs, now);
    EXPECT_EQ(flow.limit(), 4);
}
