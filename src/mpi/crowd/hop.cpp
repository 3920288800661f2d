// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/hop.h"

#include "base/compiler.h"
#include "base/system_call.h"
#include "ranks/fibers/processor_number.h"
#include "ranks/fibers/rank_fiber.h"

#include <csignal>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::mpi {

bool Hops::wanted() {
    return virt::own_fiber() != nullptr;
}

void Hops::begin(node::Board &board, std::uint64_t job) {
    virt::RankFiber *const own = virt::own_fiber();
    if (!own)
        return;
    neighbours_ = new (std::nothrow) Neighbour[static_cast<std::size_t>(board.slots_end())];
    if (!neighbours_)
        return;
    board.each([&](int number, const node::BoardSlot &slot) {
        if (slot.job.load(std::memory_order_relaxed) != job)
            return;
        neighbours_[number].fiber =
            own->calls->find(*own, node::pid_of(slot.holder.load(std::memory_order_relaxed)));
    });
    const bool is_main_flow =
        system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) == system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    if (!is_main_flow)
        return;
    virt::leave_processor_number();
    thread_ = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    own_ = own;
    own->hops.store(1, std::memory_order_relaxed); // its own flow asks
}

SENNIT_HOT bool Hops::sleep(wait::Bell &bell, std::uint32_t seen, std::int64_t limit_ns) const {
    if (!own_->calls->wait(*own_, {&bell.word(), seen}, {}, limit_ns)) {
        bell.arm(); // the kernel's way, for whoever rings now
        return bell.sleep(seen, limit_ns);
    }
    return bell.has_rung(seen);
}

// The one in the slot waits as a fiber. If its host cannot be reached, its time limit wakes it.
pid_t Hops::wake(const node::BoardSlot &slot, int number) const {
    Neighbour *const other = neighbours_ ? &neighbours_[number] : nullptr;
    if (own_ && other && other->fiber) {
        own_->calls->ring(*other->fiber, here() ? own_ : nullptr);
        return 0;
    }
    pid_t host = other ? other->host.load(std::memory_order_relaxed) : 0;
    if (host == 0)
        host = node::parent_of(node::pid_of(slot.holder.load(std::memory_order_relaxed)));
    if (other)
        other->host.store(host, std::memory_order_relaxed);
    return host <= 1 ? 0 : host; // it has ended
}

void Hops::tell(pid_t host) const {
    if (own_)
        own_->calls->ring_abroad(host); // also from a worker
    else
        kill(host, SIGURG);
}

} // namespace sennit::mpi
