// SPDX-License-Identifier: Apache-2.0
// build: if="not tsan" # as sennit_outside_ends.c
// test: threads=1|2|5
// Tasks and threads that take locks of every kind at random, and are suspended at random while they
// hold them: nobody is let in beside a holder, nobody waits for ever.
#include "sennit_door.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kLocks = 4; // of each kind
constexpr int kTasks = 4000;
constexpr int kRounds = 10;
constexpr int kThreads = 2; // that run no tasks
constexpr int kTokens = 2;

template <class Mutex>
struct Guarded {
    Mutex mutex;
    int inside = 0; // data races are what we look for: not atomic
    long count = 0;
};

Guarded<std::mutex> plain[kLocks];
Guarded<std::recursive_mutex> recursive[kLocks];
Guarded<std::shared_mutex> shared[kLocks];
Guarded<std::mutex> bounded; // a buffer of kTokens places
std::condition_variable changed;
sem_t semaphore;
std::atomic<int> with_semaphore;
std::atomic<long> written;

// Now and then, for a task: others run, or time goes by.
void maybe_suspend(uint64_t *random, bool in_task) {
    if (!in_task)
        return;
    const uint64_t choice = check_random(random) >> 60;
    if (choice == 0)
        DOOR(sennit_task_wait_ns)(1000, nullptr);
    else if (choice < 6) {
#pragma omp taskyield
    }
}

template <class Lock>
void hold(Lock &lock, uint64_t *random, bool in_task) {
    CHECK_EQ(lock.inside++, 0);
    maybe_suspend(random, in_task);
    CHECK_EQ(lock.inside--, 1);
    ++lock.count;
}

void put_and_take(uint64_t *random, bool in_task) {
    {
        std::unique_lock<std::mutex> lock(bounded.mutex);
        changed.wait(lock, [] { return bounded.inside < kTokens; });
        ++bounded.inside;
        ++bounded.count;
    }
    maybe_suspend(random, in_task);
    const std::lock_guard<std::mutex> lock(bounded.mutex);
    --bounded.inside;
    changed.notify_one();
}

void with_token(uint64_t *random, bool in_task) {
    CHECK_EQ(sem_wait(&semaphore), 0);
    CHECK(++with_semaphore <= kTokens);
    maybe_suspend(random, in_task);
    --with_semaphore;
    CHECK_EQ(sem_post(&semaphore), 0);
}

void round(uint64_t *random, bool in_task) {
    const auto which = static_cast<std::size_t>(check_random(random) >> 62);
    switch (check_random(random) >> 61) {
    case 0: {
        const std::lock_guard<std::mutex> lock(plain[which].mutex);
        hold(plain[which], random, in_task);
        break;
    }
    case 1: {
        std::unique_lock<std::mutex> lock(plain[which].mutex, std::try_to_lock);
        while (!lock.owns_lock() && !lock.try_lock())
            maybe_suspend(random, in_task);
        hold(plain[which], random, in_task);
        break;
    }
    case 2: {
        const std::lock_guard<std::recursive_mutex> lock(recursive[which].mutex);
        maybe_suspend(random, in_task);
        const std::lock_guard<std::recursive_mutex> again(recursive[which].mutex);
        hold(recursive[which], random, in_task);
        break;
    }
    case 3: {
        const std::unique_lock<std::shared_mutex> lock(shared[which].mutex);
        hold(shared[which], random, in_task);
        break;
    }
    case 4: {
        const std::shared_lock<std::shared_mutex> lock(shared[which].mutex);
        CHECK_EQ(shared[which].inside, 0);
        maybe_suspend(random, in_task);
        CHECK_EQ(shared[which].inside, 0);
        break;
    }
    case 5: {
        const auto other = (which + 1) % kLocks;
        const std::scoped_lock lock(plain[which].mutex, plain[other].mutex);
        hold(plain[which], random, in_task);
        hold(plain[other], random, in_task);
        break;
    }
    case 6:
        put_and_take(random, in_task);
        break;
    default:
        with_token(random, in_task);
        break;
    }
    ++written;
}

void work(uint64_t seed, bool in_task) {
    uint64_t random = seed * 0x9E3779B97F4A7C15 + 1;
    for (int i = 0; i < kRounds; ++i)
        round(&random, in_task);
}

} // namespace

int main() {
    CHECK_EQ(sem_init(&semaphore, 0, kTokens), 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([i] {
            for (uint64_t k = 0; k < 100; ++k)
                work(1000 + k * kThreads + static_cast<uint64_t>(i), false);
        });
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task
        work(static_cast<uint64_t>(i), true);
    }
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(written, kRounds * (kTasks + 100 * kThreads));
    CHECK_EQ(bounded.inside, 0);
    return 0;
}
