// SPDX-License-Identifier: Apache-2.0
// Kernel threads behind workers, and how busy the machine is.
#pragma once

#include <cstdint>

namespace sennit::sched {

// How long an idle worker waits awake before it sleeps, in ticks(); nothing where it would keep a
// helper, see add_helpers, off a processor.
std::uint64_t spin_budget();
// Do workers outnumber processors? Then who waits yields the processor rather than spin on it, and
// what others do within an instant may take long.
bool crowded();
// Give the processor to another thread. Where that took long lately (sched/yield_watch.h),
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

class Worker;
// Called on a thread of the program's that has used OpenMP when it ends, before its worker is
// another's; again when destructors of thread-specific data have used OpenMP since. In the order in
// which they were first given; nothing that a room above wants done is given twice.
void at_thread_end(void (*function)(Worker &worker));

} // namespace sennit::sched
