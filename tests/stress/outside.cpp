// SPDX-License-Identifier: Apache-2.0
// Events and suspended tasks are handed to whoever comes first: a task of any program, or a thread
// that OpenMP knows nothing of.
#include "execution.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <mutex>
#include <thread>

namespace stress {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kUsers = 8;

std::mutex g_mutex;
std::condition_variable g_changed;
std::deque<Errand> g_errands;
bool g_stop = false;
std::thread g_thread;

struct Watched {
    const Execution *run = nullptr;
    Clock::time_point since;
} g_watched[kUsers];

using TaskSelf = int (*)(void **);
using TaskCall = int (*)(void *);
using TaskThreadset = int (*)(int);
TaskSelf g_self;
TaskCall g_suspend, g_resume;
using TaskEvents = int (*)(void *, std::uint64_t);
TaskEvents g_increase, g_decrease;
TaskThreadset g_threadset;

void carry_out(const Errand &errand) {
    if (errand.suspended) {
        *errand.told = note_of(errand.node);
        g_resume(errand.suspended);
    } else {
        fulfil(*errand.run, errand.node, errand.event);
    }
}

bool take(Errand &errand) {
    if (g_errands.empty())
        return false;
    errand = g_errands.front();
    g_errands.pop_front();
    return true;
}

[[noreturn]] void give_up(const Execution &run) {
    std::fprintf(stderr, "seed %llu: hangs\n", static_cast<unsigned long long>(run.program.seed));
    for (const auto &node : run.program.nodes) {
        const auto id = static_cast<std::size_t>(node->id);
        if (run.ended[id] && node->has_event() && !run.fulfilled[id])
            std::fprintf(stderr, "  node %d waits for its event\n", node->id);
        const Step *step = run.now[id];
        if (run.begun[id] && !run.ended[id])
            std::fprintf(stderr, "  node %d is in a step: %s\n", node->id,
                         step ? name(step->kind) : "none");
    }
    std::fflush(stderr);
    std::abort();
}

void outside(int limit_s) {
    std::unique_lock<std::mutex> lock(g_mutex);
    while (!g_stop) {
        Errand errand;
        if (take(errand)) {
            lock.unlock();
            carry_out(errand);
            lock.lock();
            continue;
        }
        g_changed.wait_for(lock, std::chrono::seconds(1));
        for (const Watched &watched : g_watched)
            if (watched.run && Clock::now() - watched.since > std::chrono::seconds(limit_s))
                give_up(*watched.run);
        if (g_errands.empty() || g_stop)
            continue;
        // Give tasks a chance to be first.
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        lock.lock();
    }
}

} // namespace

void fulfil(Execution &run, int node, const Event &event) {
    const auto id = static_cast<std::size_t>(node);
    run.notes[id] = note_of(node);
    run.fulfilled[id].store(run.stamp(), std::memory_order_relaxed);
    if (event.task)
        g_decrease(event.task, 1);
    else
        omp_fulfill_event(event.handle);
}

void *bind_event() {
    void *task = nullptr;
    g_self(&task);
    g_increase(task, 1);
    return task;
}

void publish(const Errand &errand) {
    const std::lock_guard<std::mutex> lock(g_mutex);
    g_errands.push_back(errand);
    g_changed.notify_one();
}

void do_errand() {
    Errand errand;
    {
        const std::lock_guard<std::mutex> lock(g_mutex);
        if (!take(errand))
            return;
    }
    carry_out(errand);
}

bool can_suspend() {
    g_self = reinterpret_cast<TaskSelf>(dlsym(RTLD_DEFAULT, "sennit_task_self"));
    g_suspend = reinterpret_cast<TaskCall>(dlsym(RTLD_DEFAULT, "sennit_task_suspend"));
    g_resume = reinterpret_cast<TaskCall>(dlsym(RTLD_DEFAULT, "sennit_task_resume"));
    g_increase = reinterpret_cast<TaskEvents>(dlsym(RTLD_DEFAULT, "sennit_task_events_increase"));
    g_decrease = reinterpret_cast<TaskEvents>(dlsym(RTLD_DEFAULT, "sennit_task_events_decrease"));
    return g_self && g_suspend && g_resume && g_increase && g_decrease;
}

bool can_offer() {
    g_threadset = reinterpret_cast<TaskThreadset>(dlsym(RTLD_DEFAULT, "sennit_task_threadset"));
    return g_threadset != nullptr;
}

void offer_tasks() {
    constexpr int kPool = 1; // SENNIT_THREADSET_POOL
    g_threadset(kPool);
}

void suspend_task(Execution &run) {
    std::uint32_t told = 0;
    Errand errand;
    errand.node = 1;
    errand.told = &told;
    if (!g_self || g_self(&errand.suspended) != 0)
        return;
    publish(errand);
    g_suspend(errand.suspended);
    if (told != note_of(1))
        run.early_resume.fetch_add(1, std::memory_order_relaxed);
}

void watch(int user, const Execution *run) {
    const std::lock_guard<std::mutex> lock(g_mutex);
    g_watched[user % kUsers] = {run, Clock::now()};
}

void start_outside(int limit_s) {
    g_thread = std::thread(outside, limit_s);
}

void stop_outside() {
    {
        const std::lock_guard<std::mutex> lock(g_mutex);
        g_stop = true;
        g_changed.notify_one();
    }
    g_thread.join();
}

} // namespace stress
