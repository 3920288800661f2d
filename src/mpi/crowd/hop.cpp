// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/hop.h"

#include "base/system_call.h"
#include "virt/own_fiber.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::mpi {

constinit Hops g_hops;

namespace {

// The kernel writes the number of the processor into a thread's own memory: that of the home
// thread, which is not where the fiber runs. Without it, libc asks the processor.
void leave_processor_number() {
    const auto *const offset =
        static_cast<const std::ptrdiff_t *>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
    const auto *const size = static_cast<const unsigned *>(dlsym(RTLD_DEFAULT, "__rseq_size"));
    if (!offset || !size || *size == 0)
        return;
    struct Area { // struct rseq
        std::uint32_t start, processor;
    };
    auto *const area =
        reinterpret_cast<Area *>(static_cast<char *>(__builtin_thread_pointer()) + *offset);
    constexpr long unregister = 1;
    constexpr long signature = 0x53053053;
    constexpr long registered = 32; // by glibc, whatever of it has a meaning
    if (system_call(SYS_rseq, reinterpret_cast<long>(area), registered, unregister, signature, 0,
                    0) == 0)
        __atomic_store_n(&area->processor, std::uint32_t(-2), __ATOMIC_RELAXED);
}

} // namespace

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
    leave_processor_number();
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
