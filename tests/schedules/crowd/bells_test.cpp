// SPDX-License-Identifier: Apache-2.0
// Ranks that sleep on their bells until another rank has called MPI (mpi/crowd/neighbours.cpp,
// node/board.h), under every schedule. The threads do what mpi/crowd/vigil.cpp does, without its
// timers; each test has a version with these steps in another order, too.
#include "rooms.h"

#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

using namespace mpi;

// Ranks 0 and 1 send, and sleep until the receiver, rank 2, has taken their messages.
class Senders {
  public:
    explicit Senders(bool arms_first) : arms_first_(arms_first) {}

    Test test() {
        Test test = node_.test_of(*this);
        test.begin = [this] {
            node_.begin();
            for (Atomic<int> &taken : taken_)
                make_anew(taken);
        };
        test.threads = {[this] { send(0); }, [this] { send(1); }, [this] { receive(); }};
        return test;
    }

  private:
    static constexpr int kReceiver = 2;
    bool is_taken(int me) const {
        return taken_[static_cast<std::size_t>(me)].load(std::memory_order_relaxed) != 0;
    }
    void send(int me) {
        const Operation operation = {
            .notice = Notice::send, .peer = kReceiver, .object = communicator(MPI_COMM_WORLD)};
        Neighbours &neighbours = node_.rank(me).neighbours;
        while (!is_taken(me)) {
            begin_anew(0);
            if (!arms_first_)
                neighbours.ask_for(operation);
            const std::uint32_t seen = neighbours.arm();
            if (arms_first_)
                neighbours.ask_for(operation);
            if (is_taken(me))
                return;
            neighbours.sleep(seen, -1);
        }
    }
    void receive() {
        for (std::size_t sender = 0; sender < taken_.size(); ++sender) {
            begin_anew(sender);
            taken_[sender].store(1, std::memory_order_relaxed); // in MPI
            node_.rank(kReceiver).neighbours.answer();
        }
    }

    const bool arms_first_;
    Node node_{kReceiver + 1};
    std::array<Atomic<int>, kReceiver> taken_;
};

TEST(Bells, OfSendersAreRungWhenTheirMessageIsTaken) {
    Senders senders(true), wrong(false);
    EXPECT_EQ(failure_of(senders.test()), "");
    EXPECT_EQ(explore(wrong.test()).failure, "somebody waits for ever");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({senders.test()}, {{lost, "full_fence(); // pairs with answer()"},
                                             {lost, "full_fence(); // pairs with ask_for()"},
                                             {lost, "marked_.store(1"},
                                             {late, "asks_.store(slot + 1", 2},
                                             {lost, "asks_.store(slot + 1"}}),
              "");
}

// Both ends of a long message, which MPI moves in pieces: the test of one end and of the other in
// turns.
class Ends {
  public:
    explicit Ends(bool arms_first) : arms_first_(arms_first) {}

    Test test() {
        Test test = node_.test_of(*this);
        test.begin = [this] {
            node_.begin();
            make_anew(moved_);
        };
        test.threads = {[this] { wait(0); }, [this] { wait(1); }};
        return test;
    }

  private:
    static constexpr int kPieces = 3;
    bool is_over(int me) {
        int moved = moved_.load(std::memory_order_acquire);
        if (moved < kPieces && moved % 2 == me)
            moved_.store(++moved, std::memory_order_release);
        return moved == kPieces;
    }
    void wait(int me) {
        const Operation operation = {
            .peer = 1 - me, .object = communicator(MPI_COMM_WORLD), .bytes = 1 << 20};
        Neighbours &neighbours = node_.rank(me).neighbours;
        while (!is_over(me)) {
            begin_anew(0);
            if (!arms_first_)
                neighbours.ring_for(operation, false);
            const std::uint32_t seen = neighbours.arm();
            if (arms_first_)
                neighbours.ring_for(operation, false);
            if (is_over(me))
                break;
            neighbours.sleep(seen, -1);
            begin_anew(1);
        }
        neighbours.ring_for(operation, true); // has_called_mpi()
    }

    const bool arms_first_;
    Node node_{2};
    Atomic<int> moved_;
};

TEST(Bells, OfBothEndsOfALongMessageAreNotSleptOnAtOnce) {
    Ends ends(true), wrong(false);
    EXPECT_EQ(failure_of(ends.test()), "");
    EXPECT_EQ(explore(wrong.test()).failure, "somebody waits for ever");
}

} // namespace
} // namespace sennit::schedules
