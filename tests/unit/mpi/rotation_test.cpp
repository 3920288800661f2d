// SPDX-License-Identifier: Apache-2.0
// mpi/engine/tickets.h: a look's cost does not grow with the number of pending operations, and
// each of them is tested.
#include "mpi/engine/tickets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using sennit::mpi::Rotation;

namespace {

// Operations that are over as soon as they are tested after `complete` said so.
class Pending {
  public:
    struct Item {
        int name;
        int born;   // the look before which it was filed
        int tested; // the last look at which it was
        bool complete;
    };

    int file(bool complete = false) {
        items_.push_back({next_name_, looks_, looks_, complete});
        rotation_.added();
        return next_name_++;
    }

    int look() {
        ++looks_;
        tests_ = 0;
        return rotation_.look(
            [&](Rotation::Slice slice) {
                int over = 0;
                for (int i = slice.begin; i < slice.begin + slice.count; ++i) {
                    Item &item = at(i);
                    EXPECT_NE(item.tested, looks_) << "tested twice at a look";
                    longest_ = std::max(longest_, looks_ - item.tested);
                    item.tested = looks_;
                    ++tests_;
                    over += item.complete;
                }
                return over;
            },
            [&](int i) { return at(i).complete && at(i).tested == looks_; },
            [&](int from, int to) { at(to) = at(from); },
            [&] {
                items_.pop_back();
                ++gone_;
            });
    }

    void complete_any(std::mt19937 &random) {
        at(static_cast<int>(random() % items_.size())).complete = true;
    }
    void complete_all() {
        for (Item &item : items_)
            item.complete = true;
    }
    int size() const { return static_cast<int>(items_.size()); }
    int tests() const { return tests_; }     // at the last look
    int longest() const { return longest_; } // looks between two tests of one
    int oldest() const {
        int looks = 0;
        for (const Item &item : items_)
            looks = std::max(looks, looks_ - item.tested);
        return looks;
    }
    int gone() const { return gone_; }

  private:
    Item &at(int i) { return items_.at(static_cast<std::size_t>(i)); }
    Rotation rotation_;
    std::vector<Item> items_;
    int next_name_ = 0;
    int looks_ = 0;
    int tests_ = 0;
    int longest_ = 0;
    int gone_ = 0;
};

} // namespace

// A chain of messages beside many that do not come: each is found at the first look, with a few
// tests.
TEST(Rotation, AChainDoesNotPayForTheOthers) {
    for (const int others : {1, 100, 10'000, 100'000}) {
        Pending pending;
        for (int i = 0; i < others; ++i)
            pending.file();
        constexpr int messages = 1000;
        int tests = 0;
        for (int message = 0; message < messages; ++message) {
            pending.file(true);
            EXPECT_EQ(pending.look(), 1);
            tests += pending.tests();
        }
        EXPECT_LE(tests, messages * (Rotation::kYoung + Rotation::kBatch / Rotation::kLeftOut));
        EXPECT_EQ(pending.size(), others);
    }
}

// However many others are over at each look, as fast as they come.
TEST(Rotation, NobodyStarves) {
    constexpr int waiting = 5000;
    Pending pending;
    for (int i = 0; i < waiting; ++i)
        pending.file();
    constexpr int round = (waiting / Rotation::kBatch + 2) * Rotation::kLeftOut;
    for (int look = 0; look < 5 * round; ++look) {
        for (int i = 0; i < Rotation::kYoung; ++i)
            pending.file(true);
        EXPECT_EQ(pending.look(), Rotation::kYoung);
        EXPECT_LE(pending.oldest(), round);
    }
}

// The same where those that are over are anywhere, and as many come as go.
TEST(Rotation, NobodyStarvesWhileOthersComeAndGo) {
    constexpr int waiting = 3000;
    std::mt19937 random(1);
    Pending pending;
    for (int i = 0; i < waiting; ++i)
        pending.file();
    for (int look = 0; look < 5000; ++look) {
        for (int i = 0; i < 20; ++i)
            pending.complete_any(random);
        pending.look();
        while (pending.size() < waiting)
            pending.file();
    }
    constexpr int round = waiting / Rotation::kBatch;
    EXPECT_LE(pending.oldest(), 3 * round);
    EXPECT_LE(pending.longest(), 3 * round);
}

// Who finds nothing looks at more, but a look has an end: the youngest are asked again after it.
TEST(Rotation, IdleTurnsTestAllInTurns) {
    constexpr int waiting = 10'000;
    constexpr int most = Rotation::kYoung + Rotation::kMostBatches * Rotation::kBatch;
    Pending pending;
    for (int i = 0; i < waiting; ++i)
        pending.file();
    constexpr int looks = waiting / (most - Rotation::kYoung) + Rotation::kMostBatches;
    for (int look = 0; look < looks; ++look) {
        EXPECT_EQ(pending.look(), 0);
        EXPECT_LE(pending.tests(), most);
    }
    EXPECT_LE(pending.oldest(), looks - 1);
}

TEST(Rotation, NothingIsLost) {
    std::mt19937 random(7);
    Pending pending;
    int filed = 0;
    for (int look = 0; look < 2000; ++look) {
        for (int i = static_cast<int>(random() % 200); i > 0; --i, ++filed)
            pending.file(random() % 2 == 0);
        for (int i = 0; pending.size() > 0 && i < 90; ++i)
            pending.complete_any(random);
        pending.look();
        EXPECT_EQ(pending.size() + pending.gone(), filed);
    }
    pending.complete_all();
    for (int look = 0; pending.size() > 0 && look < filed; ++look)
        pending.look();
    EXPECT_EQ(pending.gone(), filed);
}
