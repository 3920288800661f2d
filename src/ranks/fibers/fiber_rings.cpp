// SPDX-License-Identifier: Apache-2.0
#include "ranks/fibers/fiber_rings.h"

#include "ranks/fibers/call.h"
#include "ranks/fibers/carrier.h"

#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::virt {

FiberRings::FiberRings(const RankFiberCalls &calls) : fibers_(calls, *this), host_(getpid()) {}

void FiberRings::ring(RankFiber &fiber, const RankFiber *self) {
    const RungSet::Added added = rung_.add(fiber.number);
    if (added == RungSet::Added::again)
        return;
    // A fiber that rings will soon wait itself, and its carrier looks at the set then. But if each
    // fiber can have a carrier of its own, they wait in tests (mpi/crowd/vigil.h), and hear of
    // messages sooner than by rings.
    const bool soon = self && self->carrier.load(std::memory_order_relaxed) &&
                      added == RungSet::Added::first &&
                      ready_count_.load(std::memory_order_relaxed) == 0 &&
                      fibers_.end() > carriers_end_.load(std::memory_order_relaxed);
    if (!soon)
        help();
}

// As for a ring: the word has changed, and whoever takes this sees that (fiber_rings.h).
void FiberRings::hear_abroad() {
    abroad_.store(1);
    help();
}

void FiberRings::help() {
    if (sleeping_.load() == 0 || searching_.load() != 0)
        return;
    wakes_.fetch_add(1);
    call(SYS_futex, reinterpret_cast<long>(&wakes_), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}

void FiberRings::poke(pid_t thread) const {
    call(SYS_tgkill, host_, thread, SIGURG);
}

} // namespace sennit::virt
