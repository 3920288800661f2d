// SPDX-License-Identifier: Apache-2.0
// Locks, critical, atomic and ordered (OpenMP 5.2, 19.5.2.17 to 19.5.2.20).
#include "omp/sync/lock_events.h"

namespace sennit::ompt {
namespace {

constexpr unsigned kParking = 1; // the implementation, see omp/ompt/inquiry.cpp

State state_of(MutexKind kind) {
    switch (kind) {
    case kCritical:
        return kStateCritical;
    case kAtomic:
        return kStateAtomic;
    case kOrdered:
        return kStateOrdered;
    default:
        return kStateLock;
    }
}

} // namespace

void lock_init(Site site, Lock lock) {
    const Entry entry(site);
    g_tool.lock_init(lock.kind, lock.hint, kParking, lock.wait_id, entry.code());
}

void lock_destroy(Site site, Lock lock) {
    const Entry entry(site);
    g_tool.lock_destroy(lock.kind, lock.wait_id, entry.code());
}

void lock_released(Site site, Lock lock) {
    const Entry entry(site);
    g_tool.mutex_released(lock.kind, lock.wait_id, entry.code());
}

Acquiring::Acquiring(Site site, Lock lock) : entry_(site), lock_(lock) {
    g_tool.mutex_acquire(lock.kind, lock.hint, kParking, lock.wait_id, entry_.code());
    task::ToolRecord &record = entry_.record();
    record.wait_id = lock.wait_id;
    record.state = state_of(lock.kind);
}

int test_lock(Site site, const void *lock, omp::Mutex &mutex) {
    const Acquiring acquiring(site, lock_at(kTestLock, lock));
    const bool got = mutex.try_lock();
    if (got)
        acquiring.acquired();
    return got;
}

void set_nest_lock(Site site, const void *lock, omp::NestMutex &mutex) {
    const Acquiring acquiring(site, lock_at(kNestLock, lock));
    omp::nest_lock(mutex);
    acquiring.acquired(mutex.depth);
}

int test_nest_lock(Site site, const void *lock, omp::NestMutex &mutex) {
    const Acquiring acquiring(site, lock_at(kTestNestLock, lock));
    const int depth = omp::nest_try_lock(mutex);
    if (depth > 0)
        acquiring.acquired(depth);
    return depth;
}

void unset_nest_lock(Site site, const void *lock, omp::NestMutex &mutex) {
    const Entry entry(site);
    const Lock released = lock_at(kNestLock, lock);
    if (omp::nest_unlock(mutex) == 0)
        g_tool.mutex_released(kNestLock, released.wait_id, entry.code());
    else
        g_tool.nest_lock(kEnd, released.wait_id, entry.code());
}

Acquiring::~Acquiring() {
    entry_.record().state = 0;
}

void Acquiring::acquired(int depth) const {
    if (depth > 1)
        g_tool.nest_lock(kBegin, lock_.wait_id, entry_.code());
    else
        g_tool.mutex_acquired(lock_.kind, lock_.wait_id, entry_.code());
}

} // namespace sennit::ompt
