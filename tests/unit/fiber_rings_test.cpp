// SPDX-License-Identifier: Apache-2.0
// When a ring wakes a carrier (ranks/fibers/fiber_rings.h).
#include "ranks/fibers/carrier.h"
#include "ranks/fibers/fiber_rings.h"
#include "ranks/fibers/home.h"

#include <cstdint>
#include <gtest/gtest.h>

namespace sennit::virt {
namespace {

// Of two carriers, one runs `self`, and the other one sleeps.
class TwoCarriers : public FiberRings {
  public:
    TwoCarriers() : FiberRings(g_rank_fiber_calls) {
        carriers_end_.store(2);
        sleeping_.store(1);
    }
    // Of which a ring for `fiber` is the first one.
    std::uint32_t wakes_by(RankFiber &fiber, RankFiber &self) {
        rung_.take(fibers().end(), [](std::int32_t) {});
        const std::uint32_t before = wakes_.load();
        ring(fiber, &self);
        return wakes_.load() - before;
    }
};

// The one that rings waits soon. If it has to leave its carrier to the other one, that one waits
// for this; if each can have a carrier, it begins at once.
TEST(FiberRings, ARingWakesACarrierIfEachFiberCanHaveOne) {
    TwoCarriers rings;
    Carrier carrier;
    RankFiber *const self = rings.fibers().add(nullptr);
    RankFiber *const other = rings.fibers().add(nullptr);
    ASSERT_TRUE(self && other);
    self->carrier.store(&carrier);
    EXPECT_EQ(rings.wakes_by(*other, *self), 1U);
    ASSERT_TRUE(rings.fibers().add(nullptr));
    EXPECT_EQ(rings.wakes_by(*other, *self), 0U);
}

} // namespace
} // namespace sennit::virt
