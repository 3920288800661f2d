// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/hop.h"

#include "base/system_call.h"
#include "virt/own_fiber.h"
#include "virt/processor_number.h"

#include <cstdlib>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::mpi {

bool Hops::wanted() {
    return virt::own_fiber() != nullptr;
}

void Hops::begin(node::Board &board, std::uint64_t job) {
    virt::RankFiber *const own = virt::own_fiber();
    const bool is_main_flow =
        system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) == system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    if (!own || !is_main_flow)
        return;
    fibers_ = static_cast<virt::RankFiber **>(
        std::calloc(static_cast<std::size_t>(board.slots_end()), sizeof *fibers_));
    if (!fibers_)
        return;
    board.each([&](int number, const node::Slot &slot) {
        if (slot.job.load(std::memory_order_relaxed) == job)
            fibers_[number] =
                own->calls->find(*own, node::pid_of(slot.holder.load(std::memory_order_relaxed)));
    });
    virt::leave_processor_number();
    thread_ = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    own_ = own;
    own->hops.store(1, std::memory_order_relaxed); // its own flow asks
}

bool Hops::sleep(node::Bell &bell, std::uint32_t seen, std::int64_t limit_ns) const {
    if (!own_->calls->wait(*own_, {&bell.word(), seen}, {}, limit_ns)) {
        bell.arm(); // the kernel's way, for whoever rings now
        return bell.sleep(seen, limit_ns);
    }
    return bell.has_rung(seen);
}

} // namespace sennit::mpi
