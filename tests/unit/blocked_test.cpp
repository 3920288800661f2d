// SPDX-License-Identifier: Apache-2.0
// watch/: threads that say that they block, and who looks at them.
#include "tasks/watch/blocked.h"

#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace sennit;

namespace {

constexpr sennit_call kReceive{"receive", SENNIT_NOTICE_RECEIVE, 0};
constexpr sennit_call kWait{"wait", 0, 1};
constexpr sennit_call kUntold{nullptr, 0, 0};

void begin(sennit_blocked &mark, const sennit_call *call, int peer, int tag) {
    __atomic_store_n(&mark.peer, peer, __ATOMIC_RELAXED);
    __atomic_store_n(&mark.tag, tag, __ATOMIC_RELAXED);
    __atomic_store_n(&mark.group, call->of_requests ? 2 : 1, __ATOMIC_RELAXED);
    __atomic_store_n(&mark.call, call, __ATOMIC_RELEASE);
}
void end(sennit_blocked &mark) {
    __atomic_store_n(&mark.call, nullptr, __ATOMIC_RELEASE);
    std::atomic_thread_fence(std::memory_order_release);
}

std::optional<watch::Blocked> seen(int thread_id = gettid()) {
    struct Search {
        int thread_id;
        std::optional<watch::Blocked> found;
    } search{thread_id, {}};
    watch::each_blocked(
        [](void *arg, const watch::Blocked &thread) {
            auto &wanted = *static_cast<Search *>(arg);
            if (thread.thread_id == wanted.thread_id)
                wanted.found = thread;
        },
        &search);
    return search.found;
}

// Runs body(mark) on a thread of its own, as a mark is for the life of its thread.
template <class Body>
void with_mark(Body body) {
    std::thread([&] {
        static thread_local sennit_blocked mark{};
        ASSERT_EQ(sennit_thread_blocks(&mark), SENNIT_SUCCESS);
        body(mark);
    }).join();
}

} // namespace

TEST(Blocked, OnlyThreadsInACallAreSeen) {
    with_mark([](sennit_blocked &mark) {
        EXPECT_FALSE(seen());
        begin(mark, &kReceive, 3, 7);
        const auto thread = seen();
        ASSERT_TRUE(thread);
        EXPECT_STREQ(thread->wait.call, "receive");
        EXPECT_EQ(thread->wait.direction, SENNIT_NOTICE_RECEIVE);
        EXPECT_EQ(thread->wait.peer, 3);
        EXPECT_EQ(thread->wait.tag, 7);
        EXPECT_EQ(thread->wait.requests, 0);
        EXPECT_TRUE(watch::is_blocked(gettid()));
        end(mark);
        EXPECT_FALSE(seen());
        begin(mark, &kUntold, 3, 7);
        EXPECT_FALSE(seen());
        EXPECT_EQ(mark.call, &kUntold) << "nobody looks at it";
    });
}

TEST(Blocked, ACallForRequestsHasNoPeer) {
    with_mark([](sennit_blocked &mark) {
        begin(mark, &kWait, 5, -1);
        const auto thread = seen();
        ASSERT_TRUE(thread);
        EXPECT_EQ(thread->wait.requests, 5);
        EXPECT_EQ(thread->wait.peer, -1);
    });
}

TEST(Blocked, TheSameCallIsTheSameUntilItEnds) {
    with_mark([](sennit_blocked &mark) {
        begin(mark, &kReceive, 1, 1);
        const auto first = seen();
        const auto second = seen();
        ASSERT_TRUE(first);
        ASSERT_TRUE(second);
        EXPECT_EQ(first->calls, second->calls);
        end(mark);
        begin(mark, &kReceive, 1, 1); // like the one before in everything
        const auto third = seen();
        ASSERT_TRUE(third);
        EXPECT_NE(second->calls, third->calls);
    });
}

TEST(Blocked, AThreadThatHasEndedIsNotLookedAt) {
    int ended = 0;
    with_mark([&](sennit_blocked &mark) {
        ended = gettid();
        begin(mark, &kReceive, 1, 1); // and ends in the call, as pthread_exit can make it
    });
    EXPECT_FALSE(watch::is_blocked(ended));
}

// Who looks never takes two calls for one, nor a part of each, and never undoes what the thread has
// stored.
TEST(Blocked, StressOfALookerBesideCalls) {
    std::atomic<int> caller_id{0};
    std::atomic<bool> stays{false};
    std::atomic<bool> over{false};
    std::thread caller([&] {
        static thread_local sennit_blocked mark{};
        ASSERT_EQ(sennit_thread_blocks(&mark), SENNIT_SUCCESS);
        caller_id.store(gettid(), std::memory_order_release);
        for (int i = 0; i < 200'000; ++i) {
            begin(mark, i % 2 ? &kReceive : &kWait, i, i);
            end(mark);
            ASSERT_EQ(__atomic_load_n(&mark.call, __ATOMIC_RELAXED), nullptr);
        }
        begin(mark, &kReceive, -1, -1);
        stays.store(true, std::memory_order_release);
        while (!over.load(std::memory_order_acquire))
            std::this_thread::yield();
    });
    while (caller_id.load(std::memory_order_acquire) == 0)
        std::this_thread::yield();
    std::uint64_t calls = 0;
    while (!stays.load(std::memory_order_acquire))
        if (const auto thread = seen(caller_id)) {
            EXPECT_GE(thread->calls, calls);
            calls = thread->calls;
            const sennit_wait &wait = thread->wait;
            EXPECT_EQ(wait.direction ? wait.peer : wait.requests, wait.tag);
            EXPECT_EQ(wait.group, wait.direction ? 1U : 0U);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wait.handles), wait.direction ? 0U : 2U);
        }
    const watch::Blocked last = seen(caller_id).value_or(watch::Blocked{});
    const watch::Blocked same = seen(caller_id).value_or(watch::Blocked{});
    over.store(true, std::memory_order_release);
    caller.join();
    EXPECT_EQ(last.wait.peer, -1);
    EXPECT_GT(last.calls, 0U);
    EXPECT_EQ(last.calls, same.calls);
}
