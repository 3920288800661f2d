// SPDX-License-Identifier: Apache-2.0
// Cards and ranks as queues. Units: a byte a nanosecond.
#include "sim/network.h"

#include <gtest/gtest.h>

using namespace sennit::sim;

namespace {

Machine four_ranks() {
    Machine machine;
    machine.ranks = 4;
    machine.ranks_per_card = 2;
    machine.bandwidth = 1;
    machine.latency = machine.gap = 0;
    return machine;
}

Message message(std::uint32_t source, std::uint32_t target) {
    Message one;
    one.source = source;
    one.target = target;
    one.bytes = 1000;
    return one;
}

TEST(Cards, AreDealtInBlocksOrRoundRobin) {
    Machine machine = four_ranks();
    EXPECT_TRUE(Cards(machine).through_memory(0, 1));
    EXPECT_FALSE(Cards(machine).through_memory(0, 2));
    machine.round_robin = 1;
    EXPECT_FALSE(Cards(machine).through_memory(0, 1));
    EXPECT_TRUE(Cards(machine).through_memory(0, 2));
}

TEST(Cards, SendOneMessageAtATime) {
    Cards cards(four_ranks());
    Time sent = 0;
    EXPECT_EQ(cards.send(message(0, 2), 0, sent), 0);
    EXPECT_EQ(sent, 1000);
    EXPECT_EQ(cards.send(message(1, 2), 0, sent), 1000);
    EXPECT_EQ(sent, 2000);
}

// A rank that reaches half of its card's bandwidth leaves the other half to its neighbour.
TEST(Cards, AreSharedByRanksThatCannotFillThem) {
    Machine machine = four_ranks();
    machine.rank_bandwidth = 0.5;
    Cards cards(machine);
    Time sent = 0;
    cards.send(message(0, 2), 0, sent);
    EXPECT_EQ(sent, 2000);
    cards.send(message(1, 3), 0, sent);
    EXPECT_LE(sent, 3000); // not 4000: its own queue was empty
    cards.send(message(0, 2), 0, sent);
    EXPECT_EQ(sent, 4000);
    EXPECT_EQ(cards.receive(message(0, 2), 0), 2000);
    EXPECT_EQ(cards.receive(message(0, 2), 0), 4000);
    EXPECT_EQ(cards.receive(message(1, 3), 3000), 5000);
    EXPECT_EQ(cards.busiest(), 4000);
}

} // namespace
