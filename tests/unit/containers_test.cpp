// SPDX-License-Identifier: Apache-2.0
// base/array.h, base/hash.h, base/chains.h, base/list.h, base/inbox.h.
#include "base/array.h"
#include "base/chains.h"
#include "base/compiler.h"
#include "base/hash.h"
#include "base/inbox.h"
#include "base/list.h"

#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

using namespace sennit;

namespace {

struct Item {
    int number = 0;
    int giver = 0;
    Item *next = nullptr;

    std::uint64_t key() const { return static_cast<std::uint64_t>(number); }
    Item *&chain() { return next; }
};

std::vector<int> numbers(const Item *first) {
    std::vector<int> all;
    for (; first; first = first->next)
        all.push_back(first->number);
    return all;
}

} // namespace

TEST(Array, KeepsWhatWasPushedAsItGrows) {
    ScopedArray<int, 4> array;
    for (int i = 0; i < 1000; ++i)
        ASSERT_TRUE(array.push(i));
    ASSERT_EQ(array.size(), 1000u);
    for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(array[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(array.back(), 999);
    array.pop();
    array.shorten(2000);
    EXPECT_EQ(array.size(), 999u);
    array.shorten(3);
    EXPECT_EQ(array.end() - array.begin(), 3);
}

TEST(Array, MayPushAnItemOfItsOwn) {
    ScopedArray<int, 1> array;
    array.push(7);
    for (int i = 0; i < 100; ++i)
        array.push(array[0]); // which moves as the array grows
    for (const int item : array)
        ASSERT_EQ(item, 7);
}

TEST(Array, NewItemsAreEmptyAndOldOnesStay) {
    ScopedArray<int> array;
    array.push(5);
    array.push(6);
    array.pop();
    ASSERT_TRUE(array.extend(100));
    EXPECT_EQ(array[0], 5);
    for (std::size_t i = 1; i < 100; ++i)
        ASSERT_EQ(array[i], 0);
    ASSERT_TRUE(array.extend(10));
    EXPECT_EQ(array.size(), 100u);
}

TEST(Array, WithoutMemoryItStaysAsItWas) {
#if SENNIT_ASAN || SENNIT_TSAN
    GTEST_SKIP() << "their allocators end the program";
#endif
    ScopedArray<int> array;
    array.push(5);
    volatile std::size_t too_many = SIZE_MAX / 8;
    EXPECT_FALSE(array.reserve(too_many));
    EXPECT_FALSE(array.extend(too_many));
    ASSERT_EQ(array.size(), 1u);
    EXPECT_EQ(array[0], 5);
    EXPECT_TRUE(array.push(6));
}

TEST(Hash, PlacesAreSpreadForAddressesInARow) {
    std::set<std::size_t> places;
    for (std::uint64_t word = 0; word < 64; ++word)
        places.insert(hash_place(0x7f0000001000 + 64 * word, 8));
    EXPECT_GT(places.size(), 48u);
    EXPECT_LT(*places.rbegin(), 256u);
}

TEST(Hash, OrderAndNumberOfWordsCount) {
    EXPECT_NE(hash_after(hash_after(0, 1), 2), hash_after(hash_after(0, 2), 1));
    EXPECT_NE(hash_after(hash_after(0, 1), 1), hash_after(0, 1));
}

TEST(WordMap, FindsWhatWasSetAndNothingElse) {
    WordMap<int> map;
    EXPECT_EQ(map.get(1), 0);
    std::map<std::uint64_t, int> expected;
    std::mt19937_64 random(3);
    for (int i = 1; i < 5000; ++i) {
        const std::uint64_t key = random() % 4000 * 16 + 16;
        ASSERT_TRUE(map.set(key, i));
        expected[key] = i;
    }
    for (std::uint64_t key = 16; key < 4100 * 16; key += 8) {
        const auto found = expected.find(key);
        ASSERT_EQ(map.get(key), found == expected.end() ? 0 : found->second);
    }
}

TEST(Chains, FindsWhatIsInThem) {
    std::vector<Item> items(100);
    Chains<Item, 3> table; // chains of a dozen
    for (int i = 0; i < 100; ++i) {
        Item &item = items[static_cast<std::size_t>(i)];
        item.number = i;
        EXPECT_EQ(table.find(item.key()), nullptr);
        table.add(item);
    }
    for (std::size_t i = 0; i < 100; i += 3)
        EXPECT_EQ(table.take(i), &items[i]);
    for (Item &item : items)
        EXPECT_EQ(table.find(item.key()), item.number % 3 == 0 ? nullptr : &item);
    EXPECT_EQ(table.take(0), nullptr);
    table.add(items[0]);
    EXPECT_EQ(table.find(0), items.data());
}

TEST(ListOfItems, IsFirstInFirstOut) {
    Item items[5];
    List<Item> list;
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.pop(), nullptr);
    for (int i = 0; i < 5; ++i) {
        items[i].number = i;
        list.push(&items[i]);
    }
    EXPECT_EQ(list.first(), &items[0]);
    EXPECT_EQ(list.pop(), &items[0]);
    list.push(&items[0]);
    EXPECT_EQ(numbers(list.pop_all()), (std::vector<int>{1, 2, 3, 4, 0}));
    EXPECT_TRUE(list.empty());
    list.push(&items[3]);
    EXPECT_EQ(numbers(list.pop_all()), std::vector<int>{3});
}

TEST(ListOfItems, GivesTheFirstThatIsWanted) {
    Item items[4];
    List<Item> list;
    for (int i = 0; i < 4; ++i) {
        items[i].number = i;
        list.push(&items[i]);
    }
    const auto is = [](int number) {
        return [=](const Item &item) { return item.number == number; };
    };
    EXPECT_EQ(list.take_if(is(7)), nullptr);
    EXPECT_EQ(list.take_if(is(3)), &items[3]); // the last one
    list.push(&items[3]);
    EXPECT_EQ(list.take_if(is(1)), &items[1]);
    EXPECT_EQ(list.take_if(is(0)), &items[0]);
    EXPECT_EQ(list.take_if(is(2)), &items[2]);
    EXPECT_EQ(list.take_if(is(3)), &items[3]);
    EXPECT_TRUE(list.empty());
    list.push(&items[1]);
    EXPECT_EQ(numbers(list.pop_all()), std::vector<int>{1});
}

TEST(ListOfItems, CountsWhatItAcceptsUpToItsLast) {
    Item one;
    Item two;
    List<Item> list;
    const auto any = [](const Item &) { return true; };
    EXPECT_EQ(list.count_sound(any), 0);
    list.push(&one);
    list.push(&two);
    EXPECT_EQ(list.count_sound(any), 2);
    EXPECT_EQ(list.count_sound([&](const Item &item) { return &item == &one; }), -1);
    one.next = nullptr; // the second one is lost
    EXPECT_EQ(list.count_sound(any), -1);
}

TEST(InboxOfItems, GivesTheOldestFirst) {
    Item items[3];
    Inbox<Item> inbox;
    EXPECT_FALSE(inbox.any());
    EXPECT_EQ(inbox.take_all().oldest, nullptr);
    for (int i = 0; i < 3; ++i) {
        items[i].number = i;
        inbox.push(items[i]);
    }
    EXPECT_TRUE(inbox.any());
    EXPECT_EQ(numbers(inbox.take_all().oldest), (std::vector<int>{0, 1, 2}));
    EXPECT_FALSE(inbox.any());
}

// Every item arrives once, those of one giver in order, though items are given again as soon as
// they were taken.
TEST(InboxOfItems, StressManyGiversOneTaker) {
    constexpr int kGivers = 4;
    constexpr int kRounds = 20'000;
    constexpr int kItems = 8; // of each giver
    static std::atomic<bool> free[kGivers][kItems];
    std::vector<Item> items(kGivers * kItems);
    Inbox<Item> inbox;
    std::vector<std::thread> givers;
    for (int giver = 0; giver < kGivers; ++giver) {
        for (std::atomic<bool> &one : free[giver])
            one = true;
        givers.emplace_back([&, giver] {
            for (int number = 0; number < kRounds; ++number) {
                const int at = number % kItems;
                while (!free[giver][at].exchange(false, std::memory_order_acquire))
                    std::this_thread::yield();
                Item &item = items[static_cast<std::size_t>(giver * kItems + at)];
                item.number = number;
                item.giver = giver;
                inbox.push(item);
            }
        });
    }
    int next[kGivers] = {};
    for (int taken = 0; taken < kGivers * kRounds;) {
        if (!inbox.any())
            std::this_thread::yield();
        for (Item *item = inbox.take_all().oldest; item; ++taken) {
            Item *const after = item->next;
            ASSERT_EQ(item->number, next[item->giver]++);
            free[item->giver][item->number % kItems].store(true, std::memory_order_release);
            item = after;
        }
    }
    for (std::thread &giver : givers)
        giver.join();
    EXPECT_EQ(inbox.take_all().oldest, nullptr);
}
