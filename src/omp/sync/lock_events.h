// SPDX-License-Identifier: Apache-2.0
// Locks and other mutual exclusion where a tool is attached: what is done without one, and its
// events. See lock_routines.h for who decides.
#pragma once

#include "omp/sync/sync.h"
#include "omp/team/entry.h"

#include <cstdint>

namespace sennit::ompt {

// Its identity is `wait_id`.
struct Lock {
    MutexKind kind;
    std::uint64_t wait_id;
    unsigned hint = 0;
};
inline Lock lock_at(MutexKind kind, const void *address, unsigned hint = 0) {
    return {kind, reinterpret_cast<std::uintptr_t>(address), hint};
}
void lock_init(Site site, Lock lock);
void lock_destroy(Site site, Lock lock);
void lock_released(Site site, Lock lock);
// The lock in the variable `lock`; results as the routines'.
int test_lock(Site site, const void *lock, omp::Mutex &mutex);
void set_nest_lock(Site site, const void *lock, omp::NestMutex &mutex);
int test_nest_lock(Site site, const void *lock, omp::NestMutex &mutex);
void unset_nest_lock(Site site, const void *lock, omp::NestMutex &mutex);

// While it lives the current task waits for a lock.
class Acquiring {
  public:
    Acquiring(Site site, Lock lock);
    ~Acquiring();
    Acquiring(const Acquiring &) = delete;
    Acquiring &operator=(const Acquiring &) = delete;
    void acquired(int depth = 1) const; // it has it now

  private:
    const Entry entry_;
    const Lock lock_;
};

template <class Function>
SENNIT_COLD void acquire(Site site, Lock lock, Function acquire) {
    const Acquiring acquiring(site, lock);
    acquire();
    acquiring.acquired();
}

template <class Function>
SENNIT_COLD void release(Site site, Lock lock, Function release) {
    release();
    lock_released(site, lock);
}

} // namespace sennit::ompt
