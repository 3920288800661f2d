// SPDX-License-Identifier: Apache-2.0
#include "ranks/fibers/fiber_table.h"

#include "ranks/fibers/call.h"

#include <algorithm>
#include <new>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace sennit::virt {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kParkingStack = std::size_t{32} << 10;

char *allocate(std::size_t size) {
    const long memory =
        call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    constexpr long most_errors = 4096;
    return memory < 0 && memory >= -most_errors ? nullptr : reinterpret_cast<char *>(memory);
}

// What the kernel needs for a signal's frame, with the state of the vector units.
std::size_t size_of_frame() {
    return std::max<std::size_t>(getauxval(AT_MINSIGSTKSZ), kPage) / kPage * kPage + kPage;
}

} // namespace

FiberTable::FiberTable(const RankFiberCalls &calls, FiberRings &rings)
    : calls_(calls), rings_(rings), frame_size_(size_of_frame()) {}

RankFiber *FiberTable::take_unused() const {
    RankFiber *taken = nullptr;
    each([&](RankFiber &fiber) {
        std::uint32_t unused = 0;
        if (!taken && fiber.in_use.load(std::memory_order_relaxed) == unused &&
            fiber.in_use.compare_exchange_strong(unused, 1, std::memory_order_acquire))
            taken = &fiber;
    });
    return taken;
}

RankFiber *FiberTable::make() {
    const std::size_t size = kPage + kParkingStack + frame_size_ + sizeof(RankFiber);
    char *const memory = allocate(size);
    if (!memory)
        return nullptr;
    std::int32_t number = end_.load(std::memory_order_relaxed);
    do
        if (number == kMostFibers) {
            call(SYS_munmap, reinterpret_cast<long>(memory), size);
            return nullptr;
        }
    while (!end_.compare_exchange_weak(number, number + 1));
    // A guard below the stack; the rest lies above it, the frame's room aligned by being first.
    call(SYS_mprotect, reinterpret_cast<long>(memory), kPage, PROT_NONE);
    char *const frame_room = memory + kPage + kParkingStack;
    auto *fiber = new (frame_room + frame_size_) RankFiber;
    fiber->calls = &calls_;
    fiber->rings = &rings_;
    fiber->number = number;
    fiber->parking = frame_room;
    fiber->frame_room = frame_room;
    fiber->frame_size = frame_size_;
    fibers_[number].store(fiber, std::memory_order_release);
    return fiber;
}

// The rank that had it before may have been rung for: then the new one wakes once for no reason.
RankFiber *FiberTable::add(RankFiber *main) {
    RankFiber *fiber = take_unused();
    if (!fiber)
        fiber = make();
    if (!fiber)
        return nullptr;
    fiber->main.store(main ? main : fiber);
    fiber->frame = nullptr;
    fiber->watched[0] = fiber->watched[1] = {};
    fiber->home_thread = nullptr;
    fiber->has_asked = false;
    fiber->hops.store(0);
    fiber->listener.store(nullptr);
    fiber->job.store(0);
    fiber->party = nullptr;
    fiber->wanted_home.store(0);
    fiber->doomed.store(0);
    fiber->deadline_ns = 0; // of whoever had it before
    fiber->go(Stage::home);
    return fiber;
}

RankFiber *FiberTable::find(pid_t process) const {
    RankFiber *found = nullptr;
    each([&](RankFiber &fiber) {
        if (fiber.process.load() == process && fiber.main.load() == &fiber)
            found = &fiber;
    });
    return found;
}

} // namespace sennit::virt
