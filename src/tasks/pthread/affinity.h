// SPDX-License-Identifier: Apache-2.0
// Calls by which the program binds its threads to processors itself. They do what they do without
// us, and whoever wants to know hears of them.
#pragma once

#include <cstddef>
#include <pthread.h>
#include <sched.h>

namespace sennit::pthread {

// The set is of the calling thread, or of another one. Null: nobody wants to know.
using AffinityObserver = void (*)(bool of_caller, std::size_t bytes, const cpu_set_t *set);
void observe_affinity(AffinityObserver observer);

// `caller`: where the call returns to. This library's own calls are not the program's.
int set_affinity(pid_t thread, std::size_t bytes, const cpu_set_t *set, const void *caller);
int set_affinity_of(pthread_t thread, std::size_t bytes, const cpu_set_t *set, const void *caller);
// By syscall(2).
long system_affinity(long thread, long bytes, long set, const void *caller);

} // namespace sennit::pthread
