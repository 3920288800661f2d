// SPDX-License-Identifier: Apache-2.0
// part: # a library of CMakeLists.txt
#include "homecomings.h"

#include "ranks/fibers/fiber_rings.h"
#include "ranks/fibers/rank_fiber.h"

#include <sys/types.h>
#include <unistd.h>

namespace {

// Of the calling thread, or null.
const sennit::virt::RankFiber *own_fiber() {
    const sennit::virt::RankFiber *const main = sennit::virt::own_fiber();
    const sennit::virt::RankFiber *found = nullptr;
    if (!main)
        return found;
    const pid_t thread = gettid();
    main->rings->fibers().each([&](const sennit::virt::RankFiber &fiber) {
        if (fiber.in_use.load() != 0 && fiber.thread.load() == thread)
            found = &fiber;
    });
    return found;
}

} // namespace

long homecomings() {
    const sennit::virt::RankFiber *const fiber = own_fiber();
    return fiber ? static_cast<long>(fiber->homecomings.load()) : -1;
}

int is_away() {
    const sennit::virt::RankFiber *const fiber = own_fiber();
    return fiber && fiber->carrier.load() ? 1 : 0;
}
