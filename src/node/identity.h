// SPDX-License-Identifier: Apache-2.0
// Who holds something of the board: a process, told apart from a later one with the same number.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace sennit::node {

// The process's number and the time of its start, in one word that can be claimed by one
// compare-and-swap. 0: nobody.
using Identity = std::uint64_t;

// Of the process that has the number now. Any thread.
Identity identity_of(pid_t pid);
// Of the calling process; a child of fork() has another one. Any thread.
Identity own_identity();
// Another one after each exec().
std::uint64_t own_image();
pid_t pid_of(Identity identity);
// False: the process has ended, be it by SIGKILL, though nobody may have waited for it yet. A
// stopped process is alive.
bool is_alive(Identity identity);
// Is the process stopped, by a signal or a debugger? False if the kernel does not say.
bool is_stopped(Identity identity);
// Does this thread of the process sleep in the kernel, or is it stopped? False if the kernel does
// not say.
bool is_asleep(pid_t process, int thread);

} // namespace sennit::node
