// SPDX-License-Identifier: Apache-2.0
// Assemblies (node/assembly.h) of threads that sleep on bells: every call has its own result, every
// broadcast and reduction its own note.
#include "node/assembly.h"
#include "wait/bell.h"

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace sennit::node;
using sennit::wait::Bell;

// An assembly, and a thread for each of its members, with a bell.
struct ClockOffset {
    explicit ClockOffset(int count)
        : members(count), assembly(std::make_unique<Assembly>()),
          parts(std::make_unique<Assembly::Part[]>(static_cast<std::size_t>(count))),
          bells(std::make_unique<Bell[]>(static_cast<std::size_t>(count))) {
        assembly->begin(count);
    }
    void ring_all() const {
        for (int i = 0; i < members; ++i)
            bells[i].ring();
    }
    template <class There>
    void sleep_until(int me, There there) const {
        while (!there()) {
            const std::uint32_t seen = bells[me].arm();
            if (!there())
                bells[me].sleep(seen, 60'000'000'000);
        }
    }
    // take_part(number) by each of them.
    template <class TakePart>
    void run(TakePart take_part) const {
        std::vector<std::thread> threads;
        threads.reserve(static_cast<std::size_t>(members));
        for (int me = 0; me < members; ++me)
            threads.emplace_back(take_part, me);
        for (std::thread &thread : threads)
            thread.join();
    }

    int members;
    std::unique_ptr<Assembly> assembly;
    std::unique_ptr<Assembly::Part[]> parts;
    std::unique_ptr<Bell[]> bells;
};

// Each member's part is one of a few bytes; the last one adds them up.
void meet_often(int members, std::uint32_t calls) {
    const ClockOffset meeting(members);
    const auto &assembly = meeting.assembly;
    const auto &parts = meeting.parts;
    const auto take_part = [&](int me) {
        for (std::uint32_t call = 1; call <= calls; ++call) {
            const std::uint32_t mine = call * 7 + static_cast<std::uint32_t>(me);
            std::memcpy(parts[me].bytes, &mine, sizeof mine);
            if (assembly->come(parts[me], call, 5)) {
                std::uint32_t sum = 0;
                for (int i = 0; i < members; ++i) {
                    std::uint32_t part = 0;
                    std::memcpy(&part, parts[i].bytes, sizeof part);
                    sum += part;
                    ASSERT_TRUE(parts[i].has_come(call));
                    ASSERT_EQ(parts[i].call, 5U);
                }
                std::memcpy(assembly->result(), &sum, sizeof sum);
                assembly->end(call);
                meeting.ring_all();
            }
            meeting.sleep_until(me, [&] { return assembly->is_over(call); });
            std::uint32_t sum = 0;
            std::memcpy(&sum, assembly->result(), sizeof sum);
            const auto all = static_cast<std::uint32_t>(members);
            ASSERT_EQ(sum, all * call * 7 + all * (all - 1) / 2);
        }
    };
    meeting.run(take_part);
}

// Broadcasts of a few bytes, and reductions, each member is the root in its turn; now and then all
// meet.
void post_often(int members, std::uint32_t calls) {
    const ClockOffset meeting(members);
    const auto &assembly = meeting.assembly;
    const auto &parts = meeting.parts;
    const auto take_part = [&](int me) {
        const auto until = [&](auto there) { meeting.sleep_until(me, there); };
        const auto all = static_cast<std::uint32_t>(members);
        const auto offset = [](int of) { return static_cast<std::size_t>(of) * 16; };
        std::uint32_t counted = 0;
        int number = 0;
        const auto count_me = [&](std::uint32_t call, bool of_notes) {
            counted = call;
            number = 0;
            if (!assembly->come(parts[me], call, 5, of_notes))
                return;
            ASSERT_TRUE(assembly->are_alike());
            assembly->end(call);
            meeting.ring_all();
        };
        for (std::uint32_t call = 1; call <= calls; ++call) {
            if (call % 29 == 0) {
                until([&] { return assembly->is_over(counted); });
                count_me(call, false);
                until([&] { return assembly->is_over(call); });
                continue;
            }
            Assembly::Note &note = assembly->note(number);
            std::uint32_t value = call * 7;
            if (call % 5 < 2) {
                const std::uint32_t root = call % all;
                Assembly::Part &own = parts[me];
                until([&] { return assembly->is_over(counted); });
                std::memcpy(own.brought + offset(number), &value, sizeof value);
                ASSERT_EQ(own.posted[number].post(call, call + 1), 0U);
                if (note.bring() == members)
                    meeting.bells[root].ring();
                if (root == static_cast<std::uint32_t>(me)) {
                    until([&] { return note.brought() == members; });
                    for (int i = 0; i < members; ++i) {
                        std::memcpy(&value, parts[i].brought + offset(number), sizeof value);
                        ASSERT_EQ(value, call * 7);
                        ASSERT_EQ(parts[i].posted[number].call_if_posted(call), call + 1);
                    }
                    note.take();
                }
            } else if (call / 3 % all == static_cast<std::uint32_t>(me)) {
                until([&] { return assembly->is_over(counted); });
                std::memcpy(note.bytes, &value, sizeof value);
                ASSERT_EQ(note.post(call, call + 1), 0U);
                meeting.ring_all();
            } else {
                until([&] { return note.call_if_posted(call) != 0; });
                ASSERT_EQ(note.call_if_posted(call), call + 1);
                std::memcpy(&value, note.bytes, sizeof value);
                ASSERT_EQ(value, call * 7);
            }
            if (++number == Assembly::kNotes)
                count_me(call, true);
        }
    };
    meeting.run(take_part);
}

TEST(Assembly, StressEveryBroadcastAndReductionHasItsOwnNote) {
    post_often(4, 20'000);
}

TEST(Assembly, StressOfNotesAmongHundredsOfMembers) {
    post_often(300, 100);
}

TEST(Assembly, MembersThatCountForDifferentCallsAreFoundOut) {
    const auto assembly = std::make_unique<Assembly>();
    const auto parts = std::make_unique<Assembly::Part[]>(2);
    assembly->begin(2);
    EXPECT_FALSE(assembly->come(parts[0], 1, 7, true));
    EXPECT_TRUE(assembly->come(parts[1], 1, 7));
    EXPECT_FALSE(assembly->are_alike());
    assembly->end(1);
    EXPECT_FALSE(assembly->come(parts[0], 2, 7, true));
    EXPECT_TRUE(assembly->come(parts[1], 2, 7, true));
    EXPECT_TRUE(assembly->are_alike());
}

TEST(Assembly, StressEveryCallHasItsOwnResult) {
    meet_often(4, 20'000);
}

TEST(Assembly, StressOfHundredsOfMembers) {
    meet_often(300, 100);
}

} // namespace
