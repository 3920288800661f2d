// SPDX-License-Identifier: Apache-2.0
#include "launch/processors.h"

#include "node/identity.h"

#include <sched.h>
#include <unistd.h>

namespace sennit::tool {

pid_t find_launcher(const JobContext &job) {
    return node::launcher_above(job.rank_variable);
}

int usable_processors() {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return CPU_COUNT(&usable);
}

int processors_at_once() {
    return node::within_quota(usable_processors());
}

bool may_use_what_launcher_may(const JobContext &job) {
    cpu_set_t ours;
    cpu_set_t launchers;
    const pid_t launcher = find_launcher(job);
    return launcher != 0 && sched_getaffinity(0, sizeof ours, &ours) == 0 &&
           sched_getaffinity(launcher, sizeof launchers, &launchers) == 0 &&
           CPU_EQUAL(&ours, &launchers);
}

} // namespace sennit::tool
