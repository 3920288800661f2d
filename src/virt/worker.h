// SPDX-License-Identifier: Apache-2.0
// A worker: one of the host's kernel threads that run rank fibers.
#pragma once

#include "virt/rank_fiber.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::virt {

// Why a fiber has left its worker.
enum class Reason : std::uint32_t { waits, yields, home, gone };

class Crew;

// At the low end of the stack that signals are taken on, so that a handler finds it from its stack
// pointer: the thread pointer is a rank's then.
struct Worker {
    Crew *crew = nullptr;
    void *stack_pointer = nullptr;     // of its own flow, while it runs a fiber
    std::uintptr_t thread_pointer = 0; // its own
    // The fiber that it runs. A handler of the worker's reads it, others look at it.
    std::atomic<RankFiber *> fiber{nullptr};
    Reason reason = Reason::waits;
    std::atomic<std::uint32_t> runs{0};    // fibers that it has run: who looks twice sees a change
    std::atomic<std::uint32_t> preempt{0}; // its fiber has run for long, others are ready
    std::atomic<pid_t> thread{0};
};

constexpr std::size_t kSignalStack = std::size_t{64} << 10; // and its alignment

inline Worker *worker_of_stack(const void *address) {
    return reinterpret_cast<Worker *>(reinterpret_cast<std::uintptr_t>(address) &
                                      ~(kSignalStack - 1));
}

} // namespace sennit::virt
