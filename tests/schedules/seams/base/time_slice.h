// SPDX-License-Identifier: Apache-2.0
// Stands before src/base/time_slice.h: a test says what a thread's slice is. Nothing relies on the
// fences that a system call has: to change a slice is a store like others.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace sennit {

std::uint64_t time_slice_ns(pid_t thread = 0);
bool set_time_slice(std::uint64_t ns, pid_t thread = 0);

} // namespace sennit
