// SPDX-License-Identifier: Apache-2.0
// How much processor time the system gives this process's group (cgroup): containers and batch
// systems limit that, on all processors together. The masks of allowed processors do not show it.
#pragma once

namespace sennit::node {

// As many processors as the time is enough for, rounded up; of the group and those around it, as
// far as they are seen from here. 0: there is no limit.
int quota();

// So many of `cores` can run at the same time.
inline int within_quota(int cores) {
    const int limit = quota();
    return limit > 0 && limit < cores ? limit : cores;
}

} // namespace sennit::node
