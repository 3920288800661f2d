// SPDX-License-Identifier: Apache-2.0
#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace sennit::sim;

namespace {

// Against a map: by time, and in the order of arrival among those of one time.
TEST(EventQueue, GivesTheEarliestAndOfEqualsTheFirst) {
    std::mt19937_64 random(1);
    for (const unsigned bits : {0u, 3u, 20u, 40u}) {
        EventQueue queue;
        std::multimap<Time, std::uint32_t> expected; // equal keys keep their order
        Time now = 0;
        std::uint32_t number = 0;
        const auto push = [&] {
            const Time time = now + static_cast<Time>(random() >> 1 & ((1ull << bits) - 1));
            queue.push(time, number);
            expected.emplace(time, number++);
        };
        for (int round = 0; round < 20000; ++round) {
            // Comes and goes between some and none.
            if (expected.empty() || random() % 1000 < (round / 2000 % 2 ? 400u : 600u)) {
                push();
                continue;
            }
            ASSERT_EQ(queue.next_time(), expected.begin()->first);
            const EventQueue::Event event = queue.pop([](std::uint32_t) {});
            ASSERT_EQ(event.time, expected.begin()->first);
            ASSERT_EQ(event.what, expected.begin()->second);
            now = event.time;
            expected.erase(expected.begin());
            ASSERT_EQ(queue.empty(), expected.empty());
        }
    }
}

} // namespace
