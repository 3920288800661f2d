// SPDX-License-Identifier: Apache-2.0
// The identity of a process that holds something of the board. It differs from that of a later
// process with the same number. It also differs from what the process has after exec(): nothing is
// left then of what the program had on the board, whatever runs now. Two exceptions: the system
// chooses no addresses at random, and the program is started again with the same arguments and
// environment (own_image() differs then); or the process shows nobody what it runs.
#pragma once

#include "node/core_table.h"

#include <cstdint>
#include <sys/types.h>

namespace sennit::node {

// The process's number, the time of its start and a hash of the program, in one word, so that one
// compare-and-swap can write it. 0: nobody.
using Identity = std::uint64_t;

// The identity of the process that has the number now. Any thread.
Identity identity_of(pid_t pid);
// The identity of the calling process; a child of fork() has another one. Any thread.
Identity own_identity();
// A number for the program that the calling process runs: another one after each exec().
std::uint64_t own_image();
pid_t pid_of(Identity identity);
// The process that has started this one; 0 if the kernel does not say.
pid_t parent_of(pid_t pid);
// The process that has made this rank, which has `variable` in its environment: the nearest above
// it that has not, or does not show it, as another user's. Those between may be commands of the
// same rank, with its processors. 0: there is none.
pid_t launcher_above(const char *variable);
// The same by the variables that we know. Of a process that is no rank, and of a virtual rank, the
// parent.
pid_t launcher();
// False: the process has ended, by SIGKILL or otherwise, or runs another program. Its parent may
// not have waited for it yet. A stopped process is alive.
bool is_alive(Identity identity);
// Is the process stopped, by a signal or a debugger? False if the kernel does not say.
bool is_stopped(Identity identity);
// Does this thread of the process sleep in the kernel, or is it stopped? False if the kernel does
// not say.
bool is_asleep(pid_t process, int thread);

// How much processor time the system gives to this process's group (cgroup). Containers and batch
// systems limit the time on all processors together. The masks of allowed processors do not show
// it.

// The number of processors that the time is enough for, rounded up. It regards the group and those
// around it, as far as this process can see them. 0: there is no limit.
int quota();

// How many of `cores` can run at the same time.
inline int within_quota(int cores) {
    const int limit = quota();
    return limit > 0 && limit < cores ? limit : cores;
}

// The NUMA domain of each core, as the system's files tell it. Policies use it: a process that
// needs one more core gets one near its memory.

// Tell the table the domains of `cores`, then widen it by them (CoreTable::widen()). A core whose
// domain the system does not tell is in domain 0.
void widen(CoreTable &table, const Cores &cores);

} // namespace sennit::node
