// SPDX-License-Identifier: Apache-2.0
// The processors of this machine that a rank may use, and whether it shares them with the others.
#pragma once

#include "launch/job_context.h"

#include <sys/types.h>

namespace sennit::tool {

int usable_processors();

// How many of them can run at the same time: a limit of processor time may be enough for fewer.
int processors_at_once();

// The process that has made this rank: the nearest one above whose own environment is not a rank's,
// or that does not show it, as another user's. 0: there is none.
pid_t find_launcher(const JobContext &job);

// Has the launcher left this rank all that it may use itself? Where it binds ranks, each has its
// own. False where the launcher cannot be seen.
bool may_use_what_launcher_may(const JobContext &job);

} // namespace sennit::tool
