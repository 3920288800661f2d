// SPDX-License-Identifier: Apache-2.0
// A thread's time slice. In Linux from 6.12 on, each thread of the usual class (EEVDF) has its own,
// and may change it. It gets as much of a processor as before, in shorter pieces: a thread that
// wakes up beside it, or has a shorter slice, waits no longer than this slice before it runs.
#pragma once

#include <cstdint>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit {
namespace detail {

// As the kernel has it. Newer C libraries declare `sched_attr`, others do not; the kernel's header
// cannot be read beside sched.h.
struct SchedAttributes {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime; // in the usual class: the slice, in nanoseconds
    std::uint64_t deadline, period;
    std::uint32_t least, most;
};
static_assert(sizeof(SchedAttributes) == 56);

} // namespace detail

// In all of them 0 is the calling thread, and others have the kernel's number.

// In nanoseconds. 0: it has none, because of its class or of the system.
inline std::uint64_t time_slice_ns(pid_t thread = 0) {
    detail::SchedAttributes now{};
    const bool told = syscall(SYS_sched_getattr, thread, &now, sizeof now, 0) == 0;
    return told && now.policy == SCHED_OTHER ? now.runtime : 0;
}

// 0 ns: the system's usual one. Returns whether it is so now.
inline bool set_time_slice(std::uint64_t ns, pid_t thread = 0) {
    detail::SchedAttributes change{};
    if (syscall(SYS_sched_getattr, thread, &change, sizeof change, 0) != 0 ||
        change.policy != SCHED_OTHER)
        return false;
    change.runtime = ns;
    return syscall(SYS_sched_setattr, thread, &change, 0) == 0;
}

} // namespace sennit
