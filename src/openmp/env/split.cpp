// SPDX-License-Identifier: Apache-2.0
#include "openmp/env/split.h"

#include "base/config.h"
#include "base/message.h"
#include "base/spin.h"
#include "openmp/env/environment.h"
#include "tasks/program/objects.h"
#include "tasks/program/senders.h"
#include "tasks/sched/group.h"

#include <atomic>
#include <cstring>
#include <utility>

namespace sennit::omp {

constinit detail::SplitSettings detail::g_split;
using detail::g_split;

namespace {

constexpr long kMostPerWorker = 64;
// auto: enough to balance most loops, few enough to cost a balanced one less than a hundredth
// (docs/performance.md). Always the same, as which thread has which iterations depends on it.
constexpr int kAuto = 8;

// The end: regions were split, and are no more.
struct End {
    program::Loads loads; // that have been looked at
    SpinLock looking;     // one thread at a time
    std::atomic<bool> has_come{false};
};
End g_end;

// SENNIT_SPLIT as a number; 1 where it says none, or nobody could help.
int wanted(int threads) {
    const char *const text = config().split;
    if (*text == '\0')
        return 1;
    const bool adapts = std::strcmp(text, "auto") == 0;
    if (adapts || std::strcmp(text, "inner") == 0) {
        g_split.adapts = adapts;
        g_split.inner = threads > 1;
        return adapts && threads > 1 ? kAuto : 1;
    }
    if (std::strcmp(text, "loops") == 0) {
        g_split.lends_loops = true;
        return 1;
    }
    long number = 0;
    const char *end = nullptr;
    if (parse_number(text, 1, kMostPerWorker, &number, &end) && *end == '\0')
        return static_cast<int>(number);
    warn("SENNIT_SPLIT='%s' is neither auto nor inner nor loops nor a number from 1 to %ld: going "
         "on with 1",
         text, kMostPerWorker);
    return 1;
}

// Each thread has its own data, which several threads on one worker would share.
bool allowed() {
    char whose[256];
    if (!program::has_thread_local_data(whose, sizeof whose))
        return true;
    warn("SENNIT_SPLIT=%s: %s has thread-local data, which threads that share a worker would mix "
         "up: going on with 1",
         config().split, whose);
    return false;
}

// A program finds what its threads keep only if its regions have as many threads as before.
void end_size() {
    if (g_split.workers != 0 && !__atomic_load_n(&g_split.keeps_size, __ATOMIC_RELAXED))
        set_threads_of_environment(g_split.workers);
}

} // namespace

int split_threads(int threads) {
    static const int split = [threads] {
        const int asked = wanted(threads);
        if (asked == 1 && !g_split.inner)
            return 1;
        bool is_allowed = true;
        g_end.loads.look([&] { is_allowed = allowed(); });
        g_split.inner = g_split.inner && is_allowed;
        if (g_split.inner)
            sched::count_idle_workers();
        return is_allowed ? asked : 1;
    }();
    if (g_split.refused)
        return threads;
    if (split > 1)
        g_split.workers = threads;
    if (splits_threads())
        let_regions_differ();
    return threads * split;
}

// Regions that run are not disturbed: who opens a library has its data from then on, and no thread
// that began before knows of them.
bool split_ends() {
    if (g_end.has_come.load(std::memory_order_relaxed))
        return true;
    if (!g_end.loads.any_new())
        return false;
    const Guard guard(g_end.looking);
    g_end.loads.look([] {
        if (g_end.has_come.load(std::memory_order_relaxed) || allowed())
            return;
        g_end.has_come.store(true, std::memory_order_relaxed);
        end_size();
    });
    return g_end.has_come.load(std::memory_order_relaxed);
}

void end_split(const char *region) {
    if (g_end.has_come.exchange(true, std::memory_order_relaxed))
        return;
    warn("SENNIT_SPLIT=%s: threads of %s wait for each other by spinning, and some of them had not "
         "begun: from now on regions are not split; use a lock or taskyield there",
         config().split, region);
    end_size();
}

void end_split_of_bound_threads() {
    if (g_end.has_come.exchange(true, std::memory_order_relaxed))
        return;
    warn("SENNIT_SPLIT=%s: the program binds its threads to processors, and threads that share a "
         "worker would undo each other's binding: from now on regions are not split",
         config().split);
    end_size();
}

void keep_split_size() {
    __atomic_store_n(&g_split.keeps_size, true, __ATOMIC_RELAXED);
}

int refuse_split(const char *why) {
    const bool splits = splits_threads();
    const int workers = std::exchange(g_split.workers, 0);
    g_split.inner = false;
    g_split.refused = true;
    if (splits)
        warn("SENNIT_SPLIT=%s: %s: going on with 1", config().split, why);
    return workers;
}

} // namespace sennit::omp
