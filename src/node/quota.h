// SPDX-License-Identifier: Apache-2.0
// How much processor time the system gives to this process's group (cgroup). Containers and batch
// systems limit the time on all processors together. The masks of allowed processors do not show
// it.
#pragma once

namespace sennit::node {

// The number of processors that the time is enough for, rounded up. It regards the group and those
// around it, as far as this process can see them. 0: there is no limit.
int quota();

// How many of `cores` can run at the same time.
inline int within_quota(int cores) {
    const int limit = quota();
    return limit > 0 && limit < cores ? limit : cores;
}

} // namespace sennit::node
