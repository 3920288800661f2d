// SPDX-License-Identifier: Apache-2.0
// mpi/engine/tickets.h: a turn's cost does not grow with the number of pending operations, and
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
        int born;   // the turn before which it was filed
        int tested; // the last turn at which it was
        bool complete;
    };

    int file(bool complete = false) {
        items_.push_back({next_name_, turns_, turns_, complete});
        rotation_.added();
        return next_name_++;
    }

    int turn() {
        ++turns_;
        tests_ = 0;
        return rotation_.turn(
            [&](Rotation::Slice slice) {
                int over = 0;
                for (int i = slice.begin; i < slice.begin + slice.count; ++i) {
                    Item &item = at(i);
                    EXPECT_NE(item.tested, turns_) << "tested twice at a turn";
                    longest_ = std::max(longest_, turns_ - item.tested);
                    item.tested = turns_;
                    ++tests_;
                    over += item.complete;
                }
                return over;
            },
            [&](int i) { return at(i).complete && at(i).tested == turns_; },
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
    int tests() const { return tests_; }     // at the last turn
    int longest() const { return longest_; } // turns between two tests of one
    int oldest() const {
        int turns = 0;
        for (const Item &item : items_)
            turns = std::max(turns, turns_ - item.tested);
        return turns;
    }
    int gone() const { return gone_; }

  private:
    Item &at(int i) { return items_.at(static_cast<std::size_t>(i)); }
    Rotation rotation_;
    std::vector<Item> items_;
    int next_name_ = 0;
    int turns_ = 0;
    int tests_ = 0;
    int longest_ = 0;
    int gone_ = 0;
};

} // namespace

// A chain of messages beside many that do not come: each is found at the first turn, with a few
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
            EXPECT_EQ(pending.turn(), 1);
            tests += pending.tests();
        }
        EXPECT_LE(tests, messages * (Rotation::kYoung + Rotation::kBatch / Rotation::kLeftOut));
        EXPECT_EQ(pending.size(), others);
    }
}

// However many others are over at each turn, as fast as they come.
TEST(Rotation, NobodyStarves) {
    constexpr int waiting = 5000;
    Pending pending;
    for (int i = 0; i < waiting; ++i)
        pending.file();
    constexpr int round = (waiting / Rotation::kBatch + 2) * Rotation::kLeftOut;
    for (int turn = 0; turn < 5 * round; ++turn) {
        for (int i = 0; i < Rotation::kYoung; ++i)
            pending.file(true);
        EXPECT_EQ(pending.turn(), Rotation::kYoung);
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
    for (int turn = 0; turn < 5000; ++turn) {
        for (int i = 0; i < 20; ++i)
            pending.complete_any(random);
        pending.turn();
        while (pending.size() < waiting)
            pending.file();
    }
    constexpr int round = waiting / Rotation::kBatch;
    EXPECT_LE(pending.oldest(), 3 * round);
    EXPECT_LE(pending.longest(), 3 * round);
}

// Who finds nothing looks at more, but a turn has an end: the youngest are asked again after it.
TEST(Rotation, IdleTurnsTestAllInTurns) {
    constexpr int waiting = 10'000;
    constexpr int most = Rotation::kYoung + Rotation::kMostBatches * Rotation::kBatch;
    Pending pending;
    for (int i = 0; i < waiting; ++i)
        pending.file();
    constexpr int turns = waiting / (most - Rotation::kYoung) + Rotation::kMostBatches;
    for (int turn = 0; turn < turns; ++turn) {
        EXPECT_EQ(pending.turn(), 0);
        EXPECT_LE(pending.tests(), most);
    }
    EXPECT_LE(pending.oldest(), turns - 1);
}

TEST(Rotation, NothingIsLost) {
    std::mt19937 random(7);
    Pending pending;
    int filed = 0;
    for (int turn = 0; turn < 2000; ++turn) {
        for (int i = static_cast<int>(random() % 200); i > 0; --i, ++filed)
            pending.file(random() % 2 == 0);
        for (int i = 0; pending.size() > 0 && i < 90; ++i)
            pending.complete_any(random);
        pending.turn();
        EXPECT_EQ(pending.size() + pending.gone(), filed);
    }
    pending.complete_all();
    for (int turn = 0; pending.size() > 0 && turn < filed; ++turn)
        pending.turn();
    EXPECT_EQ(pending.gone(), filed);
}
