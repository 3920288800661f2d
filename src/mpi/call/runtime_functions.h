// SPDX-License-Identifier: Apache-2.0
// The task runtime's functions that we use, looked up by name when the first of them is wanted.
// Without all of them every call is bare.
#pragma once

#include "base/spin.h"
#include "sennit.h"

#include <atomic>

namespace sennit::mpi {

#define SENNIT_RUNTIME_FUNCTIONS(X)                                                                \
    X(sennit_should_suspend)                                                                       \
    X(sennit_call_begins)                                                                          \
    X(sennit_tasks_outside)                                                                        \
    X(sennit_worker_wanted)                                                                        \
    X(sennit_meets_others)                                                                         \
    X(sennit_libraries_loaded)                                                                     \
    X(sennit_teams_with_tasks)                                                                     \
    X(sennit_send_order)                                                                           \
    X(sennit_task_urgency)                                                                         \
    X(sennit_task_self)                                                                            \
    X(sennit_task_get_kind)                                                                        \
    X(sennit_task_wait_ns)                                                                         \
    X(sennit_task_spawn)                                                                           \
    X(sennit_task_tests)                                                                           \
    X(sennit_task_suspend_for)                                                                     \
    X(sennit_task_resume)                                                                          \
    X(sennit_helpers)                                                                              \
    X(sennit_task_events_increase)                                                                 \
    X(sennit_task_events_decrease)                                                                 \
    X(sennit_task_event_last)                                                                      \
    X(sennit_code_calls)                                                                           \
    X(sennit_poll_register)                                                                        \
    X(sennit_poll_describe)                                                                        \
    X(sennit_poll_pending)                                                                         \
    X(sennit_poll_doorbell)                                                                        \
    X(sennit_pool_share)                                                                           \
    X(sennit_pool_lend)                                                                            \
    X(sennit_pool_reclaim)                                                                         \
    X(sennit_notify)

class RuntimeFunctions {
  public:
#define SENNIT_MEMBER(name) decltype(&::name) name = nullptr;
    SENNIT_RUNTIME_FUNCTIONS(SENNIT_MEMBER)
#undef SENNIT_MEMBER
    sennit_poll_service *service = nullptr;
    bool complete = false;

    constexpr RuntimeFunctions() = default;
    RuntimeFunctions(const RuntimeFunctions &) = delete;
    RuntimeFunctions &operator=(const RuntimeFunctions &) = delete;

    // They are looked up now, at the latest. Pairs with the store in find().
    const RuntimeFunctions &get() {
        if (__builtin_expect(!found_.load(std::memory_order_acquire), false))
            find();
        return *this;
    }

  private:
    void find();

    SpinLock lock_; // one thread looks them up
    std::atomic<bool> found_{false};
};

} // namespace sennit::mpi
