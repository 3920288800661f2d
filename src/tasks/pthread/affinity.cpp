// SPDX-License-Identifier: Apache-2.0
#include "tasks/pthread/affinity.h"

#include "base/loaded_object.h"
#include "tasks/pthread/bare.h"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::pthread {
namespace {

std::atomic<AffinityObserver> g_observer{nullptr};

void tell(bool of_caller, std::size_t bytes, const cpu_set_t *set, const void *caller) {
    const AffinityObserver observer = g_observer.load(std::memory_order_acquire);
    if (observer && object_of(caller) != object_of(reinterpret_cast<const void *>(tell)))
        observer(of_caller, bytes, set);
}

} // namespace

void observe_affinity(AffinityObserver observer) {
    g_observer.store(observer, std::memory_order_release);
}

int set_affinity(pid_t thread, std::size_t bytes, const cpu_set_t *set, const void *caller) {
    const int result = bare.sched_setaffinity(thread, bytes, set);
    if (result == 0)
        tell(thread == 0 || thread == gettid(), bytes, set, caller);
    return result;
}

int set_affinity_of(pthread_t thread, std::size_t bytes, const cpu_set_t *set, const void *caller) {
    const int error = bare.pthread_setaffinity_np(thread, bytes, set);
    if (error == 0)
        tell(pthread_equal(thread, pthread_self()), bytes, set, caller);
    return error;
}

long system_affinity(long thread, long bytes, long set, const void *caller) {
    const long result = bare.syscall(SYS_sched_setaffinity, thread, bytes, set, 0, 0, 0);
    if (result == 0)
        tell(thread == 0 || thread == gettid(), static_cast<std::size_t>(bytes),
             reinterpret_cast<const cpu_set_t *>(set), caller);
    return result;
}

} // namespace sennit::pthread
