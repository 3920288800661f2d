// SPDX-License-Identifier: Apache-2.0
// A program that binds its threads to processors itself, in a region whose threads share workers
// (SENNIT_SPLIT). That ends splitting. But of the threads of that region those on one worker have
// undone each other's binding. So what each has asked for is kept, and the thread of this number is
// bound so when it next begins a region, on a worker of its own.
#pragma once

#include <cstddef>
#include <sched.h>

namespace sennit::omp {

struct Member;

// The program has bound a thread: the calling one, or another.
void note_own_binding(bool of_caller, std::size_t bytes, const cpu_set_t *set);

// The calling thread begins a region as `member`.
void bind_as_bound(const Member &member);

} // namespace sennit::omp
