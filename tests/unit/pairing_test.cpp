// SPDX-License-Identifier: Apache-2.0
// network/pairing.h: which receive is a message's.
#include "network/pairing.h"

#include <gtest/gtest.h>
#include <vector>

namespace {

using Pairing = sennit::network::Pairing<int>;

constexpr int kPeer = 3;
constexpr int kTag = 7;

} // namespace

TEST(Pairing, ALongMessageWaitsForItsReceive) {
    Pairing pairing;
    int message = 0;
    EXPECT_FALSE(pairing.sent(kPeer, kTag, &message, true));
    EXPECT_EQ(pairing.waiting(), 1u);
    EXPECT_EQ(pairing.received(kPeer, kTag + 1, 10), nullptr);
    EXPECT_EQ(pairing.received(kPeer + 1, kTag, 10), nullptr);
    EXPECT_EQ(pairing.received(kPeer, kTag, 10), &message);
    EXPECT_EQ(pairing.waiting(), 0u);
}

TEST(Pairing, AReceiveThatWasCalledLetsOneMessageGo) {
    Pairing pairing;
    int message = 0;
    EXPECT_EQ(pairing.received(kPeer, kTag, 10), nullptr);
    EXPECT_EQ(pairing.received(kPeer, kTag, 20), nullptr);
    EXPECT_EQ(pairing.sent(kPeer, kTag, &message, true), 10u);
    EXPECT_EQ(pairing.sent(kPeer, kTag, &message, true), 20u);
    EXPECT_FALSE(pairing.sent(kPeer, kTag, &message, true));
}

TEST(Pairing, AShortMessageTakesItsReceiveLater) {
    Pairing pairing;
    int brief = 0, lasting = 0;
    EXPECT_TRUE(pairing.sent(kPeer, kTag, &brief, false));
    EXPECT_FALSE(pairing.sent(kPeer, kTag, &lasting, true));
    EXPECT_EQ(pairing.received(kPeer, kTag, 10), nullptr); // the short one's
    EXPECT_EQ(pairing.received(kPeer, kTag, 20), &lasting);
}

TEST(Pairing, AShortMessageDoesNotPassALongOne) {
    Pairing pairing;
    int brief = 0, lasting = 0;
    EXPECT_FALSE(pairing.sent(kPeer, kTag, &lasting, true));
    EXPECT_FALSE(pairing.sent(kPeer, kTag, &brief, false));
    EXPECT_TRUE(pairing.sent(kPeer, kTag + 1, &brief, false));
    EXPECT_EQ(pairing.received(kPeer, kTag, 10), &lasting);
    EXPECT_EQ(pairing.received(kPeer, kTag, 20), &brief);
}

TEST(Pairing, AllCanBeLetGo) {
    Pairing pairing;
    int first = 0, second = 0;
    pairing.sent(kPeer, kTag, &first, true);
    pairing.sent(kPeer, kTag, &second, true);
    std::vector<int *> gone;
    pairing.release([&](int *message) { gone.push_back(message); });
    EXPECT_EQ(gone, (std::vector{&first, &second}));
    EXPECT_EQ(pairing.waiting(), 0u);
    EXPECT_EQ(pairing.received(kPeer, kTag, 10), nullptr);
}
