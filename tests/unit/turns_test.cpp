// SPDX-License-Identifier: Apache-2.0
// When a ring wakes a worker (ranks/fibers/turns.h).
#include "ranks/fibers/home.h"
#include "ranks/fibers/turns.h"
#include "ranks/fibers/worker.h"

#include <cstdint>
#include <gtest/gtest.h>

namespace sennit::virt {
namespace {

// Of two workers, one runs `self`, and the other one sleeps.
class TwoWorkers : public FiberTurns {
  public:
    TwoWorkers() : FiberTurns(g_rank_fiber_calls) {
        workers_end_.store(2);
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

// The one that rings waits soon. If it has to leave its worker to the other one, that one waits for
// this; if each can have a worker, it begins at once.
TEST(Turns, ARingWakesAWorkerIfEachFiberCanHaveOne) {
    TwoWorkers turns;
    Worker worker;
    RankFiber *const self = turns.fibers().add(nullptr);
    RankFiber *const other = turns.fibers().add(nullptr);
    ASSERT_TRUE(self && other);
    self->worker.store(&worker);
    EXPECT_EQ(turns.wakes_by(*other, *self), 1U);
    ASSERT_TRUE(turns.fibers().add(nullptr));
    EXPECT_EQ(turns.wakes_by(*other, *self), 0U);
}

} // namespace
} // namespace sennit::virt
