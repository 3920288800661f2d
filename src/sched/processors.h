// SPDX-License-Identifier: Apache-2.0
// The processors of this process and how busy they are. From that follows how long a waiting thread
// stays awake.
#pragma once

#include <cstdint>

namespace sennit::sched {

// How many processors this process may use, and the number of workers that compute at once (set by
// the room above); see crowded().
int processors();
void set_active_workers(int workers);
void set_sharing(bool shares); // of cores with other processes (sched/cores.h)
void add_helpers(int more);    // threads that are no workers and compute for suspended tasks
// Threads are bound to this many of the processors.
void set_usable_processors(int usable);
void set_processors(int processors); // of those that the process was given

// How long an idle worker waits awake before it sleeps, in ticks(); nothing where it would keep a
// helper, see add_helpers, off a processor.
std::uint64_t spin_budget();
// Do workers outnumber processors? Then who waits yields the processor rather than spin on it, and
// what others do within an instant may take long.
bool crowded();
// Does an idle worker wait awake at all, on a processor of its own?
bool waits_awake();
// Give the processor to another thread. Where that took long lately (base/yield_watch.h),
// processors_wanted() holds: who waits had better sleep.
void yield_processor();
bool processors_wanted();
// Of `ranks` processes on this machine, how many share this one's processors, if the launcher has
// spread them over its own evenly. With the same processors as the launcher's, all of them.
constexpr long sharing(long ranks, int own, int launchers) {
    return own >= launchers ? ranks : (ranks * own + launchers - 1) / launchers;
}
// OMP_WAIT_POLICY, unless SENNIT_SPIN_US says otherwise.
enum class WaitPolicy { unset, active, passive };
void set_wait_policy(WaitPolicy policy);
WaitPolicy wait_policy();
std::uint64_t ticks_per_us();

void processors_setup();

} // namespace sennit::sched
