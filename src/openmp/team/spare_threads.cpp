// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/spare_threads.h"

#include "base/fence.h"
#include "openmp/env/split.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/sharing.h"
#include "tasks/sched/threads.h"
#include "tasks/sched/worker.h"
#include "tasks/trace/trace.h"

#include <atomic>
#include <cstdint>
#include <new>

namespace sennit::omp {

// What all teams share. The ticker holds the lock while it looks, so no team goes meanwhile.
struct SpareThreadsOfAll {
    static constexpr std::uint64_t kPeriod = Patience::kShortest / 4;

    SpinLock lock;
    SpareThreads *first SENNIT_GUARDED_BY(lock) = nullptr; // linked by next_, under the same lock
    Patience patience SENNIT_GUARDED_BY(lock);

    void look() {
        const std::uint64_t now = poll::now_ns();
        const Guard guard(lock);
        for (SpareThreads *at = first; at; at = at->next_)
            at->look(now, patience.ns());
    }
    // One with threads to begin; the caller has entered it. Null: there is none.
    SpareThreads *enter_any() {
        const auto is_entered = [](SpareThreads &one) {
            return one.runs_.load(std::memory_order_acquire) && one.team_.unbegun() != 0 &&
                   one.enter();
        };
        const Guard guard(lock);
        SpareThreads *found = first;
        while (found && !is_entered(*found))
            found = found->next_;
        return found;
    }
    void add(SpareThreads &team) {
        const Guard guard(lock);
        team.next_ = first;
        first = &team;
    }
    // It may not be there: in the child of fork().
    void remove(SpareThreads &team) {
        const Guard guard(lock);
        for (SpareThreads **at = &first; *at; at = &(*at)->next_) {
            if (*at != &team)
                continue;
            *at = team.next_;
            break;
        }
    }
};

namespace {

constinit SpareThreadsOfAll g_all;

} // namespace

SpareThreads::SpareThreads(Unbegun &team) : team_(team) {
    g_all.add(*this);
    static std::atomic<bool> watched{false};
    if (!watched.exchange(true, std::memory_order_relaxed))
        poll::set_watch(
            poll::Watcher::split, [](void *) { g_all.look(); }, nullptr,
            SpareThreadsOfAll::kPeriod);
    poll::begin_watch();
}

SpareThreads::~SpareThreads() {
    g_all.remove(*this);
}

void SpareThreads::look(std::uint64_t now_ns, std::uint64_t patience_ns) {
    if (!runs_.load(std::memory_order_acquire)) {
        since_ns_ = 0;
        return;
    }
    const std::uint64_t unbegun = team_.unbegun();
    const std::uint64_t trail = team_.trail();
    if (unbegun == 0 || since_ns_ == 0 || trail != trail_) {
        trail_ = trail;
        since_ns_ = unbegun == 0 ? 0 : now_ns;
        return;
    }
    const std::uint64_t stood_ns = now_ns - since_ns_;
    if (stood_ns < patience_ns)
        return;
    since_ns_ = 0;
    if (began_ns_.load(std::memory_order_relaxed) == 0) {
        stood_ns_ = stood_ns;
        began_ns_.store(now_ns, std::memory_order_relaxed);
    }
    for (std::uint64_t i = 0; i < unbegun; ++i)
        start();
}

// Counted before the look at whether the region still runs: end() says that it does not, and looks
// at the count afterwards. Acquire: the next region may have begun meanwhile.
bool SpareThreads::enter() {
    inside_.fetch_add(1, std::memory_order_seq_cst);
    fence_heavy(); // pairs with fence_light in end()
    if (runs_.load(std::memory_order_acquire))
        return true;
    leave();
    return false;
}

// Last: the team may be gone after this.
void SpareThreads::leave() {
    inside_.fetch_sub(1, std::memory_order_release);
    futex_wake(inside_);
}

void SpareThreads::start() {
    if (enter() && !sched::start_thread(main, this))
        leave();
}

bool SpareThreads::help_any(sched::Worker &worker) {
    SpareThreads *const region = g_all.enter_any();
    if (!region)
        return false;
    region->team_.help(worker);
    region->leave();
    return true;
}

void SpareThreads::main(void *argument) {
    auto &self = *static_cast<SpareThreads *>(argument);
    sched::Worker &worker = *sched::Worker::self();
    self.team_.run_spare(worker);
    worker.task = nullptr;
    worker.slot = nullptr;
    sched::join_pool(worker);
    self.leave();
}

void SpareThreads::end() {
    runs_.store(false, std::memory_order_relaxed);
    fence_light(); // pairs with fence_heavy in start()
    // Acquire: pairs with the release of who leaves.
    for (std::uint32_t inside;
         SENNIT_UNLIKELY((inside = inside_.load(std::memory_order_acquire)) != 0);)
        futex_wait(inside_, inside);
    if (SENNIT_UNLIKELY(began_ns_.load(std::memory_order_relaxed) != 0))
        judge();
}

SENNIT_NOINLINE void SpareThreads::judge() {
    const std::uint64_t now = poll::now_ns();
    g_all.lock.lock();
    const bool certain =
        g_all.patience.judge(stood_ns_, now - began_ns_.load(std::memory_order_relaxed));
    began_ns_.store(0, std::memory_order_relaxed);
    g_all.lock.unlock();
    if (!certain)
        return;
    trace::Symbols symbols;
    end_split(symbols.name_of(reinterpret_cast<std::uint64_t>(team_.function())));
}

// The ticker may have held the lock. The parent's teams are not the child's.
void spare_threads_after_fork_in_child() {
    g_all.lock.after_fork_in_child();
    const Guard guard(g_all.lock);
    g_all.first = nullptr;
}

namespace {

class Helpers {
  public:
    void call(int threads) {
        if (wanted_.load(std::memory_order_relaxed) != threads)
            wanted_.store(threads, std::memory_order_relaxed);
        if (threads <= 0 || asks_.load(std::memory_order_relaxed) ||
            !sched::could_have_more_cores() || asks_.exchange(true, std::memory_order_relaxed))
            return;
        if (!sched::start_thread(main, this, sched::Begins::without_core))
            asks_.store(false, std::memory_order_relaxed);
    }
    void after_fork_in_child() {
        wanted_.store(0, std::memory_order_relaxed);
        asks_.store(false, std::memory_order_relaxed);
    }

  private:
    static void main(void *self) { static_cast<Helpers *>(self)->help(*sched::Worker::self()); }

    void help(sched::Worker &worker) {
        const bool has_core = worker.seat.take_spare(wanted_);
        asks_.store(false, std::memory_order_relaxed);
        if (!has_core)
            return;
        if (const int others = wanted_.load(std::memory_order_relaxed) - 1; others > 0)
            call(others);
        while (!worker.seat.is_to_leave() && SpareThreads::help_any(worker)) {
        }
    }

    Atomic<std::int32_t> wanted_{0}; // threads that could begin: a hint
    std::atomic<bool> asks_{false};  // a helper waits for a core, or is about to
};
constinit Helpers g_helpers;

} // namespace

void call_helpers(int threads) {
    g_helpers.call(threads);
}

void helpers_after_fork_in_child() {
    g_helpers.after_fork_in_child();
}

} // namespace sennit::omp
