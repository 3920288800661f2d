// SPDX-License-Identifier: Apache-2.0
// The processors of this process and how busy they are. From that follows how long a waiting thread
// stays awake.
#pragma once

#include "wait/yield_watch.h"

#include <atomic>
#include <cstdint>

namespace sennit::sched {

// OMP_WAIT_POLICY, unless SENNIT_SPIN_US says otherwise.
enum class WaitPolicy { unset, active, passive };

// What the process starts with, written by begin() and before there are workers that wait: given_,
// how many it may use; usable_, of them those that threads are bound to; sharing_, how many
// processes share them; ticks_per_us_.
//
// Hints, written by any thread, relaxed, and only when they change, for every thread that waits
// reads them: active_, workers that compute at once; helpers_, threads beside them; shares_cores_,
// with other processes; wait_policy_, which kmp_set_blocktime() changes at any time; and what
// follows from these, crowded_ and spin_budget_. yields_ belongs to whoever yields.
class Processors {
  public:
    constexpr Processors() = default;
    Processors(const Processors &) = delete;
    Processors &operator=(const Processors &) = delete;

    void begin();
    int given() const { return given_; }
    int usable() const { return usable_; }
    std::uint64_t ticks_per_us() const { return ticks_per_us_; }
    WaitPolicy wait_policy() const { return wait_policy_.load(std::memory_order_relaxed); }
    bool crowded() const { return crowded_.load(std::memory_order_relaxed); }
    std::uint64_t spin_budget() const;
    bool waits_awake() const { return !crowded() && spin_budget() != 0; }
    bool wanted() const;
    bool yields_in_vain() const;
    bool are_enough_for(int threads) const { return !outnumbered_by(threads); }
    bool asks_about_yields() const { return yields_.asks(ticks_per_us_); }
    // A yield lasted from `before` to `now`, in ticks(); for `own_ns` of it others of this process
    // computed on the processor.
    void note_yield(std::uint64_t before, std::uint64_t now, std::int64_t own_ns);
    // The same where nobody has asked about that.
    void note_yield(std::uint64_t before, std::uint64_t now) {
        yields_.note_length(now - before, ticks_per_us_);
    }

    void set_given(int processors);
    void set_usable(int usable);
    void set_active(int workers);
    void set_wait_policy(WaitPolicy policy);
    void set_sharing(bool shares);
    void set_sharers(long processes);
    void add_helpers(int more) { helpers_.fetch_add(more, std::memory_order_relaxed); }

  private:
    void calibrate_ticks();
    bool outnumbered_by(int threads) const {
        return threads * sharing_ > usable_ || shares_cores_.load(std::memory_order_relaxed);
    }
    std::uint64_t spin_us(bool crowded) const;

    int given_ = 1;
    int usable_ = 1;
    long sharing_ = 1;
    std::uint64_t ticks_per_us_ = 1000;
    std::atomic<WaitPolicy> wait_policy_{WaitPolicy::unset};
    std::atomic<std::uint64_t> spin_budget_{0};
    std::atomic<bool> crowded_{false};
    std::atomic<int> active_{1};
    std::atomic<int> helpers_{0};
    std::atomic<bool> shares_cores_{false};
    wait::YieldWatch yields_;
};

#pragma GCC visibility push(hidden)
extern constinit Processors g_processors;
#pragma GCC visibility pop

// ---- of this process ----------------------------------------------------------------------------

// How many processors this process may use, and the number of workers that compute at once (set by
// the room above); see crowded().
inline int processors() {
    return g_processors.given();
}
inline void set_active_workers(int workers) {
    g_processors.set_active(workers);
}
// Cores are shared with other processes (tasks/sched/sharing.h).
inline void set_sharing(bool shares) {
    g_processors.set_sharing(shares);
}
// Threads that are no workers and compute for suspended tasks.
inline void add_helpers(int more) {
    g_processors.add_helpers(more);
}
// Threads are bound to this many of the processors.
inline void set_usable_processors(int usable) {
    g_processors.set_usable(usable);
}
// So many processes have these processors: somebody knows better than the launcher's tell.
inline void set_sharers(long processes) {
    g_processors.set_sharers(processes);
}
// Of those that the process was given.
inline void set_processors(int processors) {
    g_processors.set_given(processors);
}

// Is there a processor for each of so many threads?
inline bool processors_for(int threads) {
    return g_processors.are_enough_for(threads);
}

// How long an idle worker waits awake before it sleeps, in ticks(); nothing where it would keep a
// helper, see add_helpers, off a processor.
inline std::uint64_t spin_budget() {
    return g_processors.spin_budget();
}
// Do workers outnumber processors? Then who waits yields the processor rather than spin on it, and
// what others do within an instant may take long.
inline bool crowded() {
    return g_processors.crowded();
}
// Does an idle worker wait awake at all, on a processor of its own?
inline bool waits_awake() {
    return g_processors.waits_awake();
}
// Did yields of the processor cost much lately (wait/yield_watch.h)? Then who waits had better
// sleep, unless the user has said how to wait.
inline bool processors_wanted() {
    return g_processors.wanted();
}
inline bool yields_in_vain() {
    return g_processors.yields_in_vain();
}
// Of `ranks` processes on this machine, how many share this one's processors, if the launcher has
// spread them over its own evenly. With the same processors as the launcher's, all of them.
constexpr long sharing(long ranks, int own, int launchers) {
    return own >= launchers ? ranks : (ranks * own + launchers - 1) / launchers;
}
inline void set_wait_policy(WaitPolicy policy) {
    g_processors.set_wait_policy(policy);
}
inline WaitPolicy wait_policy() {
    return g_processors.wait_policy();
}
inline std::uint64_t ticks_per_us() {
    return g_processors.ticks_per_us();
}

} // namespace sennit::sched
