// SPDX-License-Identifier: Apache-2.0
// The processes that come from this one, whoever started them: orphans are found, too, in a child
// subreaper (prctl(2)).
#pragma once

#include <sys/types.h>

#include <vector>

namespace sennit::tool {

// Does it hold virtual ranks? A stub of any program may have started it (src/ranks/stub), and it
// serves those of others.
bool is_host(pid_t process);

// Not zombies. `but_hosts`: without the hosts of virtual ranks and what is below them.
std::vector<pid_t> find_descendants(bool but_hosts = false);
void signal_descendants(int signal);
// Gives them a moment to go by themselves, then ends them.
void end_descendants(bool but_hosts = false);

} // namespace sennit::tool
