// SPDX-License-Identifier: Apache-2.0
// Threads that block in calls of other libraries (sennit_thread_blocks).
#pragma once

#include "sennit.h"

#include <cstdint>

namespace sennit::watch {

struct Blocked {
    int thread_id;
    std::uint64_t calls; // different ones that were seen
    sennit_wait wait;
    const void *frame;
};
// visit(thread) for each that is in a call now. Asked by the ticker only.
void each_blocked(void (*visit)(void *arg, const Blocked &thread), void *arg);
bool is_blocked(int thread_id);
void forget_threads_after_fork();

} // namespace sennit::watch
