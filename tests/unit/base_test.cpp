// SPDX-License-Identifier: Apache-2.0
// base/: slabs, spin locks, text from outside.
#include "base/printable.h"
#include "base/slab.h"
#include "base/spin.h"

#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace sennit;

TEST(Slab, BlocksAreAlignedDistinctAndReused) {
    auto heap = std::make_unique<Heap>();
    for (std::size_t size : {1u, 64u, 65u, 200u, 1024u, 1025u, 2048u, 16384u, 16385u, 100000u}) {
        std::set<void *> seen;
        for (int i = 0; i < 100; ++i) {
            void *block = heap->allocate(size);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
            std::memset(block, i, size);
            EXPECT_TRUE(seen.insert(block).second) << "size " << size;
        }
        for (void *block : seen)
            heap->release(block);
    }
    void *first = heap->allocate(100);
    heap->release(first);
    EXPECT_EQ(heap->allocate(100), first) << "the hottest block is reused first";
}

TEST(Slab, BlocksReturnedByAnotherHeapComeBackToTheirOwner) {
    auto owner = std::make_unique<Heap>();
    auto other = std::make_unique<Heap>();
    constexpr int kBlocks = 2000;
    std::set<void *> mine;
    for (int i = 0; i < kBlocks; ++i)
        mine.insert(owner->allocate(128));
    for (void *block : mine)
        other->release(block);
    other->flush();
    int reused = 0;
    for (int i = 0; i < kBlocks; ++i)
        reused += static_cast<int>(mine.count(owner->allocate(128)));
    EXPECT_GT(reused, kBlocks / 2);
}

// One thread allocates and writes, the other checks and releases: no block is ever in two hands.
TEST(Slab, StressProducerConsumer) {
    auto owner = std::make_unique<Heap>();
    auto other = std::make_unique<Heap>();
    constexpr int kRounds = 200000;
    constexpr int kSlots = 256;
    std::vector<std::atomic<std::uint64_t *>> box(kSlots);
    std::atomic<bool> wrong{false};
    std::thread consumer([&] {
        for (int i = 0; i < kRounds; ++i) {
            auto &slot = box[static_cast<std::size_t>(i % kSlots)];
            std::uint64_t *block = nullptr;
            while (!(block = slot.exchange(nullptr, std::memory_order_acquire)))
                std::this_thread::yield();
            if (block[0] != static_cast<std::uint64_t>(i) || block[7] != block[0])
                wrong = true;
            other->release(block);
        }
        other->flush();
    });
    for (int i = 0; i < kRounds; ++i) {
        auto *block = static_cast<std::uint64_t *>(owner->allocate(64));
        block[0] = block[7] = static_cast<std::uint64_t>(i);
        auto &slot = box[static_cast<std::size_t>(i % kSlots)];
        std::uint64_t *expected = nullptr;
        while (!slot.compare_exchange_weak(expected, block, std::memory_order_release)) {
            expected = nullptr;
            std::this_thread::yield();
        }
    }
    consumer.join();
    EXPECT_FALSE(wrong);
}

TEST(Spin, LockExcludes) {
    SpinLock lock;
    long counter = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 50000; ++i) {
                lock.lock();
                ++counter;
                lock.unlock();
            }
        });
    for (auto &thread : threads)
        thread.join();
    EXPECT_EQ(counter, 200000);
}

// What another user wrote into a name must not act on a terminal.
TEST(Printable, ControlCharactersAreShownAndTextIsKept) {
    EXPECT_EQ(printable("gemm(double *, int) gr\u00fc\u00df \u20ac \U0001f600 a\\b"),
              "gemm(double *, int) gr\u00fc\u00df \u20ac \U0001f600 a\\b");
    EXPECT_EQ(printable("a\x1b[31mb\x7f"), "a\\x1b[31mb\\x7f");
    EXPECT_EQ(printable("\x1b]0;title\a"), "\\x1b]0;title\\x07");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m")
        << "the controls of ISO 6429";
    EXPECT_EQ(printable("\u202e\u2066\u2028"), "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\xa8");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, BytesThatAreNoUtf8AreShown) {
    for (const char *bytes : {"\x9b", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xe2\x82",
                              "\xf5", "\xf4\x90\x80\x80", "\xff"})
        for (const char c : printable(bytes))
            EXPECT_TRUE(c >= ' ' && c < 0x7f) << printable(bytes);
    EXPECT_EQ(printable("\xe2\x82z"), "\\xe2\\x82z") << "what follows is kept";
}

TEST(Printable, OnlyATextOfSeveralLinesKeepsThem) {
    EXPECT_EQ(printable("a\nsennit: b\tc\rd"), "a\\x0asennit: b\\x09c\\x0dd");
    EXPECT_EQ(printable("a\nb\tc\rd", Lines::many), "a\nb\tc\\x0dd");
}
