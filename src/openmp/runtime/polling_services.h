// SPDX-License-Identifier: Apache-2.0
// Polling services as nanos6.h has them: called as long as they are registered, until they say that
// they are done. They are all called by one service of the room tasks/poll, which has as many
// pending operations as there are services here. So one thread at a time calls them, workers do
// while they are idle, and the ticker does every millisecond.
//
// Invariant: the list changes under its lock. Services are called without the lock; the one that is
// being called stays in the list until it has returned.
#pragma once

#include "base/guard.h"
#include "base/spin.h"
#include "nanos6.h"
#include "sennit.h"

#include <cstdint>

namespace sennit::runtime {

class PollingServices {
  public:
    constexpr PollingServices() = default;

    // False: there is no memory.
    bool add(nanos6_polling_service_t function, void *data);
    // On return nobody is in it, but the caller.
    void remove(nanos6_polling_service_t function, void *data);

    void before_fork() SENNIT_ACROSS_FORK { lock_.lock(); }
    void after_fork() SENNIT_ACROSS_FORK { lock_.unlock(); }
    // The child polls for nobody: what the services look after is the parent's.
    void after_fork_in_child() SENNIT_ACROSS_FORK;

  private:
    struct Registration {
        nanos6_polling_service_t function;
        void *data;
        Registration *next;
        bool gone; // removed while it was called
    };

    static int poll(void *services);
    int call_all();
    sennit_poll_service *caller();
    Registration *find(nanos6_polling_service_t function, void *data) SENNIT_REQUIRES(lock_);
    void unlink(const Registration &wanted) SENNIT_REQUIRES(lock_);
    void wait_for(std::uint64_t call);
    bool is_under_way(std::uint64_t call);

    SpinLock lock_;
    Registration *first_ SENNIT_GUARDED_BY(lock_) = nullptr;
    const Registration *called_ SENNIT_GUARDED_BY(lock_) = nullptr; // now
    unsigned forks_ SENNIT_GUARDED_BY(lock_) = 0;                   // that this process is behind
    std::uint64_t calls_ SENNIT_GUARDED_BY(lock_) = 0;              // so far
    sennit_poll_service *caller_ SENNIT_GUARDED_BY(lock_) = nullptr;
};

} // namespace sennit::runtime
