// SPDX-License-Identifier: Apache-2.0
// Slots of a board that processes leave when they are killed at any step (node/board.cpp,
// node/core_table.cpp), under every schedule.
#include "rooms.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

// There is one slot, and one core. Process 0 joins, wants the core, has it, and leaves. Process 1
// sweeps. Both may be killed. Process 2 joins when it can.
class Dying {
  public:
    Test test() {
        Test test;
        add_memory_of(board_, 1, 1, test.memory);
        test.memory.push_back(memory_of(*this));
        test.are_processes = true;
        test.switch_to = [](std::size_t process) { g_rooms.process = process; };
        test.begin = [this] {
            g_rooms.is_killed = [this](std::size_t process) { return is_killed(process); };
            begin_board(board_, 1, 1);
            has_ended_ = {};
        };
        test.threads = {[this] { be_member(); }, [this] { sweep(); }, [this] { join(); }};
        test.state = [this] {
            return static_cast<std::uint64_t>(has_ended_[0] + 2 * has_ended_[1] +
                                              4 * has_ended_[2]);
        };
        test.end = [this] {
            return board_.slot(0).holder.load() == 3 ? "" : "a living process loses its slot";
        };
        return test;
    }

  private:
    bool is_killed(std::size_t process) {
        const bool ended = has_ended(process);
        return ended && !has_ended_[process];
    }
    void be_member() {
        become_mortal();
        if (node::BoardSlot *const slot = board_.join(1, {})) {
            node::CoreTable &table = board_.core_table();
            slot->cores.counts.store(1, std::memory_order_release); // as Share::begin()
            table.want(0);
            const node::Hold hold = table.take(0, 0);
            table.want_no_more(0);
            if (!hold)
                fail("a core is not free");
            board_.leave(*slot);
        }
        has_ended_[0] = true;
    }
    void sweep() {
        become_mortal();
        board_.sweep();
        has_ended_[1] = true;
    }
    void join() {
        node::BoardSlot *slot;
        for (;;) {
            begin_anew(0);
            slot = board_.join(2, {});
            if (slot)
                break;
            wait_for_change();
        }
        const node::CoreTable &table = board_.core_table();
        if (slot->cores.counts.load() != 0 || table.state(0).user != node::kNobody ||
            table.wants(0) != 0 || table.somebody_wants())
            fail("a new member has what the dead one has left");
        has_ended_[2] = true;
    }

    node::Board board_;
    std::array<bool, 3> has_ended_{}; // was not killed
};

TEST(Slots, OfTheDeadAreFreedOnce) {
    Dying dying;
    EXPECT_EQ(failure_of(dying.test()), "");
}

TEST(Slots, NeedEachStepOfASweep) {
    Dying dying;
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({dying.test()}, {{lost, "slot.holder.compare_exchange_strong(dead"},
                                     {lost, "slot.holder.compare_exchange_strong(nobody"},
                                     {lost, "fetch_and(~bit(slot), std::memory_order_relaxed"},
                                     {lost, "counts_[slot].store(0"},
                                     {late, "counts_[slot].store(0", 3}}),
        "");
}

} // namespace
} // namespace sennit::schedules
