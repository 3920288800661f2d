// SPDX-License-Identifier: Apache-2.0
// Waits until a time of any clock on a glibc that has none: what is called in their place there.
#include "tasks/pthread/bare.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <thread>

namespace {

using namespace sennit::pthread;

constexpr clockid_t kClocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
constexpr std::int64_t kSecond = 1'000'000'000;

template <class Function>
Function *made(const char *name) {
    return reinterpret_cast<Function *>(made_of_older_calls(name));
}

std::int64_t now_ns(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * kSecond + now.tv_nsec;
}

timespec in_ns(clockid_t clock, std::int64_t ns) {
    const std::int64_t then = now_ns(clock) + ns;
    return {static_cast<time_t>(then / kSecond), static_cast<long>(then % kSecond)};
}

// `wait(clock, time)` ends at its time, neither before nor an hour later, and refuses what libc
// refuses.
template <class Wait>
void expect_to_end_in_time(Wait wait, bool refuses_wrong_times = true) {
    for (const clockid_t clock : kClocks) {
        const std::int64_t begun = now_ns(CLOCK_MONOTONIC);
        const timespec soon = in_ns(clock, 20'000'000);
        EXPECT_EQ(wait(clock, &soon), ETIMEDOUT);
        EXPECT_GE(now_ns(CLOCK_MONOTONIC) - begun, 19'000'000);
        const timespec past = in_ns(clock, -3 * kSecond);
        EXPECT_EQ(wait(clock, &past), ETIMEDOUT);
        const timespec wrong{0, kSecond};
        if (refuses_wrong_times) {
            EXPECT_EQ(wait(clock, &wrong), EINVAL);
        }
    }
    const timespec any{1, 0};
    EXPECT_EQ(wait(CLOCK_THREAD_CPUTIME_ID, &any), EINVAL);
}

// What `wait` waits for is held by another thread.
template <class Hold, class Wait>
void expect_to_end_while_held(Hold hold, Wait wait) {
    std::thread(hold).join();
    expect_to_end_in_time(wait);
}

TEST(ClockCalls, AMutex) {
    auto *const lock = made<decltype(pthread_mutex_clocklock)>("pthread_mutex_clocklock");
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const timespec later = in_ns(CLOCK_MONOTONIC, kSecond);
    EXPECT_EQ(lock(&mutex, CLOCK_MONOTONIC, &later), 0);
    expect_to_end_in_time(
        [&](clockid_t clock, const timespec *time) { return lock(&mutex, clock, time); });
}

TEST(ClockCalls, AReadWriteLock) {
    auto *const read = made<decltype(pthread_rwlock_clockrdlock)>("pthread_rwlock_clockrdlock");
    auto *const write = made<decltype(pthread_rwlock_clockwrlock)>("pthread_rwlock_clockwrlock");
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    const timespec later = in_ns(CLOCK_MONOTONIC, kSecond);
    EXPECT_EQ(read(&lock, CLOCK_MONOTONIC, &later), 0);
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
    expect_to_end_while_held(
        [&] { pthread_rwlock_wrlock(&lock); },
        [&](clockid_t clock, const timespec *time) { return read(&lock, clock, time); });
    expect_to_end_in_time(
        [&](clockid_t clock, const timespec *time) { return write(&lock, clock, time); });
}

TEST(ClockCalls, AConditionOfEitherClock) {
    auto *const wait = made<decltype(pthread_cond_clockwait)>("pthread_cond_clockwait");
    for (const clockid_t of_condition : kClocks) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, of_condition);
        pthread_cond_t condition;
        pthread_cond_init(&condition, &attributes);
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        expect_to_end_in_time([&](clockid_t clock, const timespec *time) {
            return wait(&condition, &mutex, clock, time);
        });
        pthread_mutex_unlock(&mutex);
    }
}

TEST(ClockCalls, ASemaphore) {
    auto *const take = made<decltype(sem_clockwait)>("sem_clockwait");
    sem_t semaphore;
    sem_init(&semaphore, 0, 1);
    const timespec later = in_ns(CLOCK_MONOTONIC, kSecond);
    EXPECT_EQ(take(&semaphore, CLOCK_MONOTONIC, &later), 0);
    expect_to_end_in_time([&](clockid_t clock, const timespec *time) {
        return take(&semaphore, clock, time) == 0 ? 0 : errno;
    });
}

TEST(ClockCalls, TheEndOfAThread) {
    auto *const join = made<decltype(pthread_clockjoin_np)>("pthread_clockjoin_np");
    sem_t end;
    sem_init(&end, 0, 0);
    pthread_t thread;
    const auto wait = [](void *semaphore) -> void * {
        sem_wait(static_cast<sem_t *>(semaphore));
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, wait, &end), 0);
    expect_to_end_in_time(
        [&](clockid_t clock, const timespec *time) { return join(thread, nullptr, clock, time); },
        false); // libc waits for ever
    sem_post(&end);
    const timespec later = in_ns(CLOCK_MONOTONIC, 60 * kSecond);
    EXPECT_EQ(join(thread, nullptr, CLOCK_MONOTONIC, &later), 0);
}

TEST(ClockCalls, OthersAreNone) {
    EXPECT_EQ(made_of_older_calls("pthread_mutex_lock"), nullptr);
}

} // namespace
