// SPDX-License-Identifier: Apache-2.0
#include "base/fence.h"

#include "base/virtual_rank.h"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit {

bool g_light_fence_is_free = false;

void fence_setup() {
    if (is_rank_fiber())
        return; // a fiber sleeps and wakes as often as it publishes: see src/virt
    const int saved = errno;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
        g_light_fence_is_free = true;
    errno = saved;
}

void fence_heavy() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!g_light_fence_is_free)
        return;
    const int saved = errno;
    // This cannot fail after a successful registration.
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    errno = saved;
}

} // namespace sennit
