// SPDX-License-Identifier: Apache-2.0
// build: if="not tsan" # as sennit_outside_ends.c
// test: variant=|static
// docs/user/openmp.md, "Locks of the operating system": the initializer of a static variable or of
// std::call_once suspends its task, and other tasks of the same, only thread wait for it as tasks;
// when it throws after that, one of them initializes. So do futures and the standard locks.
#include "sennit_door.h"

#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>

namespace {

// volatile: gcc thinks that taskyield changes no static variable
sennit_task *volatile suspended;
volatile int begun, ended, failures;

struct Failure {};

int initialize() {
    const int attempt = ++begun;
    suspended = door_self();
    CHECK_EQ(DOOR(sennit_task_suspend)(suspended), SENNIT_SUCCESS);
    if (attempt <= failures)
        throw Failure();
    ++ended;
    return 42;
}

template <int>
int static_variable() {
    static const int value = initialize();
    return value;
}

template <int>
int called_once() {
    static std::once_flag flag;
    static int value;
    int token = 42; // the callable is the caller's own
    std::call_once(flag, [&value = value, token] { value = initialize() + token - 42; });
    return value;
}

template <class Get>
void scene(int how_often_it_throws, Get get) {
    begun = ended = 0;
    failures = how_often_it_throws;
    suspended = nullptr;
    int thrown = 0;
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(thrown)
        try {
            CHECK_EQ(get(), 42);
            CHECK_EQ(ended, 1);
        } catch (const Failure &) {
            ++thrown;
        }
    }
    for (int attempt = 0; attempt <= failures; ++attempt) {
        while (begun <= attempt || !suspended) {
#pragma omp taskyield
        }
        CHECK_EQ(ended, 0);
        sennit_task *const task = suspended;
        suspended = nullptr;
        CHECK_EQ(DOOR(sennit_task_resume)(task), SENNIT_SUCCESS);
    }
#pragma omp taskwait
    CHECK_EQ(thrown, failures);
    CHECK_EQ(begun, failures + 1);
    CHECK_EQ(ended, 1);
}

// A task suspends itself inside of `hold`, others are in `want` meanwhile.
template <class Hold, class Want>
void guarded(Hold hold, Want want) {
    suspended = nullptr;
    int inside = 0;
#pragma omp task shared(inside)
    hold([&] {
        suspended = door_self();
        CHECK_EQ(DOOR(sennit_task_suspend)(suspended), SENNIT_SUCCESS);
        CHECK_EQ(inside, 0);
    });
    while (!suspended) {
#pragma omp taskyield
    }
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(inside)
        want([&] { ++inside; });
    }
#pragma omp task shared(inside)
    {
#pragma omp taskyield
        CHECK_EQ(inside, 0);
        CHECK_EQ(DOOR(sennit_task_resume)(suspended), SENNIT_SUCCESS);
    }
#pragma omp taskwait
    CHECK_EQ(inside, 10);
}

template <class Mutex>
void standard_mutex() {
    Mutex mutex;
    const auto locked = [&](auto inside) {
        const std::lock_guard<Mutex> lock(mutex);
        inside();
    };
    guarded(locked, locked);
}

void shared_mutex() {
    std::shared_mutex mutex;
    guarded(
        [&](auto inside) {
            const std::unique_lock<std::shared_mutex> lock(mutex);
            inside();
        },
        [&](auto inside) {
            const std::shared_lock<std::shared_mutex> lock(mutex);
            inside();
        });
}

void two_mutexes() {
    std::mutex one;
    std::mutex other;
    const auto locked = [&](auto inside) {
        const std::scoped_lock lock(one, other);
        inside();
    };
    const auto the_other_way = [&](auto inside) {
        const std::scoped_lock lock(other, one);
        inside();
    };
    guarded(locked, the_other_way);
}

void future() {
    std::promise<int> promise;
    const std::shared_future<int> result = promise.get_future().share();
    guarded(
        [&](auto inside) {
            inside();
            promise.set_value(42);
        },
        [&](auto inside) {
            CHECK_EQ(result.get(), 42);
            inside();
        });
}

void condition_variable() {
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    guarded(
        [&](auto inside) {
            inside();
            const std::lock_guard<std::mutex> lock(mutex);
            ready = true;
            changed.notify_all();
        },
        [&](auto inside) {
            std::unique_lock<std::mutex> lock(mutex);
            changed.wait(lock, [&] { return ready; });
            inside();
        });
}

} // namespace

int main() {
#pragma omp parallel num_threads(1)
    {
        scene(0, static_variable<0>);
        scene(3, static_variable<3>);
        scene(0, called_once<0>);
        if (dlsym(RTLD_DEFAULT, "_ZSt11__once_call")) // not with a C++ library of the program's own
            scene(3, called_once<3>);
        standard_mutex<std::mutex>();
        standard_mutex<std::timed_mutex>();
        standard_mutex<std::recursive_mutex>();
        shared_mutex();
        two_mutexes();
        future();
        condition_variable();
    }
    return 0;
}
