// SPDX-License-Identifier: Apache-2.0
// A core that processes share (node/core_table.h, with its Wanters) under every schedule. The
// threads do what node/share.cpp does, without a timer; a ring goes to the first process that wants
// a core.
#include "rooms.h"

#include <array>
#include <gtest/gtest.h>
#include <utility>

namespace sennit::schedules {
namespace {

using node::Hold;
using node::kNobody;

class OneCore {
  public:
    virtual ~OneCore() = default;

  protected:
    static constexpr int kProcesses = 3;
    Test test_of(std::span<std::byte> memory) {
        Test test;
        add_memory_of(board_, kProcesses, 1, test.memory);
        test.memory.push_back(memory);
        test.begin = [this] {
            begin_board(board_, kProcesses, 1);
            begin();
        };
        test.state = [this] { return state(); };
        test.end = [] { return ""; };
        return test;
    }
    virtual void begin() = 0;
    virtual std::uint64_t state() const { return 0; }

    node::CoreTable &table() { return board_.core_table(); }
    wait::Bell &bell(int process) { return board_.slot(process).cores.bell; }
    void ring_one() {
        for (int i = 0; i < kProcesses; ++i)
            if (table().wants(i) > 0) {
                bell(i).ring();
                return;
            }
    }
    void give(Hold hold, int process) {
        if (table().give(hold, process) && table().anybody_wants())
            ring_one();
    }
    void pass_on_what_is_free() {
        if (table().anybody_wants() && table().state(0).user == kNobody)
            ring_one();
    }
    // Until it has the core. `says_first`: it says that it wants it before it looks.
    Hold wait_for_core(int process, bool says_first = true) {
        if (says_first)
            table().want(process);
        Hold hold = table().take(0, process);
        if (!hold)
            recall(process);
        bool has_said = says_first;
        while (!hold) {
            begin_anew(1);
            const std::uint32_t seen = bell(process).arm();
            if (says_first)
                hold = table().take(0, process);
            else if (!std::exchange(has_said, true))
                table().want(process);
            if (!hold) {
                bell(process).sleep(seen, -1);
                hold = table().take(0, process);
            }
        }
        if (has_said)
            table().want_no_more(process);
        return hold;
    }
    virtual void recall(int /*process*/) {}

    node::Board board_;
};

// Process 0 has the core, and gives it. The others want it, one after the other has it, and gives
// it, too.
class Passing final : OneCore {
  public:
    // What process 1 does: it waits until it has the core; or it gives up, as a thread that has run
    // without one meanwhile, and passes the ring on; or not.
    enum class First : std::uint8_t { waits, gives_up, keeps_the_ring };
    explicit Passing(bool says_first, First first = First::waits)
        : says_first_(says_first), first_(first) {}
    Test test() {
        Test test = test_of(memory_of(*this));
        test.threads = {[this] { leave(hold_, 0); }, [this] { want(1); }, [this] { want(2); }};
        return test;
    }

  private:
    void begin() override {
        hold_ = table().take(0, 0);
        has_it_ = 1;
    }
    std::uint64_t state() const override { return static_cast<std::uint64_t>(has_it_); }
    void leave(Hold hold, int process) {
        --has_it_;
        give(hold, process);
    }
    void want(int process) {
        if (process == 1 && first_ != First::waits) {
            table().want(process);
            table().want_no_more(process);
            if (first_ == First::gives_up)
                pass_on_what_is_free();
            return;
        }
        const Hold hold = wait_for_core(process, says_first_);
        if (++has_it_ != 1)
            fail("two have the core");
        pass_on_what_is_free();
        leave(hold, process);
    }

    const bool says_first_;
    const First first_;
    Hold hold_;
    int has_it_ = 1;
};

TEST(Cores, WhoWantsOneHearsOfAFreeOne) {
    Passing right(true), wrong(false);
    EXPECT_EQ(failure_of(right.test()), "");
    EXPECT_EQ(explore(wrong.test()).failure, "somebody waits for ever");
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({right.test()}, {{torn, "word.compare_exchange_weak(before, pack(state)"}}),
        "");
}

TEST(Cores, WhoWantsNoneAnyMorePassesTheRingOn) {
    Passing right(true, Passing::First::gives_up), wrong(true, Passing::First::keeps_the_ring);
    EXPECT_EQ(failure_of(right.test()), "");
    EXPECT_EQ(explore(wrong.test()).failure, "somebody waits for ever");
}

// A thread of process 0 wants the core no more, while another one comes to want it. Process 1 gives
// it.
class Wanting final : OneCore {
  public:
    explicit Wanting(bool passes_on) : passes_on_(passes_on) {}
    Test test() {
        Test test = test_of(memory_of(*this));
        test.threads = {[this] {
                            table().want_no_more(0);
                            if (passes_on_)
                                pass_on_what_is_free();
                        },
                        [this] { wait_for_core(0); }, [this] { give(hold_, 1); }};
        return test;
    }

  private:
    void begin() override {
        table().want(0);
        hold_ = table().take(0, 1);
    }
    const bool passes_on_;
    Hold hold_;
};

TEST(Cores, WhoWantsOneHasItsBit) {
    Wanting right(true), wrong(false);
    EXPECT_EQ(failure_of(right.test()), "");
    EXPECT_EQ(explore(wrong.test()).failure, "somebody waits for ever");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({right.test()},
                          {{late, "counts_[slot].fetch_add(1"},
                           {lost, "word(slot).fetch_or(bit(slot), std::memory_order_release)"}}),
              "");
}

// Process 0 borrows the core of process 1, and computes until it is to leave it, or for less long.
// One or two threads of the owner want it, one after the other.
class Recalling final : OneCore {
  public:
    Recalling(int owners, bool gives_soon, bool recalls = true, bool says_first = true)
        : owners_(owners), gives_soon_(gives_soon), recalls_(recalls), says_first_(says_first) {}
    Test test() {
        Test test = test_of(memory_of(*this));
        test.threads = {[this] { borrow(); }};
        for (int i = 0; i < owners_; ++i)
            test.threads.emplace_back([this] { own(); });
        return test;
    }

  private:
    void begin() override {
        table().set_owner(0, 1);
        hold_ = table().take(0, 0);
    }
    void borrow() {
        while (!gives_soon_ && !table().is_to_leave(hold_)) {
            wait_for_change();
            begin_anew(2);
        }
        give(hold_, 0);
    }
    void recall(int process) override {
        if (recalls_ && table().state(0).user != process)
            table().recall(0, process);
    }
    void own() {
        const Hold hold = wait_for_core(1, says_first_);
        if (table().is_to_leave(hold))
            fail("a thread of the owner is to leave its own core");
        give(hold, 1);
    }

    const int owners_;
    const bool gives_soon_, recalls_, says_first_;
    Hold hold_;
};

TEST(Cores, WhoWantsItsOwnBackHasIt) {
    Recalling computes(1, false), gives_soon(2, true), never(1, false, false),
        says_late(1, true, true, false);
    EXPECT_EQ(failure_of(computes.test()), "");
    EXPECT_EQ(failure_of(gives_soon.test()), "");
    // A torn one marks the core of another user.
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({gives_soon.test()}, {{torn, "word.compare_exchange_weak(before, pack("}}), "");
    EXPECT_EQ(explore(never.test()).failure, "somebody waits for ever");
    EXPECT_EQ(explore(says_late.test()).failure, "somebody waits for ever");
}

// Process 0 has the core, sleeps with it, wakes up, gives it, and sleeps without one. The others
// want it: they take it if it is free, else from a thread that sleeps. They never sleep.
class Robbing final : OneCore {
  public:
    // Which number of the use do they heed: of the core, and of the thread that uses it?
    enum class Heeds : std::uint8_t { both, not_of_core, not_of_thread };
    explicit Robbing(Heeds heeds) : heeds_(heeds) {}
    Test test() {
        Test test = test_of(memory_of(*this));
        test.threads = {[this] { sleep(); }, [this] { rob(1); }, [this] { rob(2); }};
        return test;
    }

  private:
    void begin() override {
        for (Atomic<bool> &one : asleep_)
            make_anew(one);
    }
    Atomic<bool> &asleep(int thread) { return asleep_[static_cast<std::size_t>(thread - 1)]; }
    void sleep() {
        const Hold hold = table().take(0, 0);
        if (!hold)
            return;
        table().note_use(hold, 0, 1);
        if (table().has_lost(hold))
            fail("a thread that computes is robbed");
        asleep(1).store(true); // the kernel's
        asleep(1).store(false);
        table().give(hold, 0);
        asleep(1).store(true);
    }
    void rob(int process) {
        Hold hold = table().take(0, process);
        if (!hold)
            hold = take_from_sleeper(process);
        if (!hold)
            return;
        table().note_use(hold, 0, process + 1);
        if (table().has_lost(hold))
            fail("a thread that computes is robbed");
        table().give(hold, process);
    }
    Hold take_from_sleeper(int process) {
        const node::CoreState seen = table().state(0);
        Hold from{0, seen.use};
        int thread = table().thread_of(from);
        if (thread == 0 && heeds_ == Heeds::not_of_thread)
            thread = table().thread_of({0, seen.use - 1});
        if (seen.user == kNobody || thread == 0 || !asleep(thread).load())
            return {};
        if (heeds_ == Heeds::not_of_core)
            from.use = table().state(0).use;
        return table().take_over(from, process);
    }

    const Heeds heeds_;
    std::array<Atomic<bool>, kProcesses> asleep_;
};

TEST(Cores, OnlyWhoSleepsLosesIts) {
    Robbing right(Robbing::Heeds::both);
    EXPECT_EQ(failure_of(right.test()), "");
    for (const auto heeds : {Robbing::Heeds::not_of_core, Robbing::Heeds::not_of_thread})
        EXPECT_EQ(explore(Robbing(heeds).test()).failure, "a thread that computes is robbed");
}

} // namespace
} // namespace sennit::schedules
