// SPDX-License-Identifier: Apache-2.0
// Collective calls without messages (node/assembly.h, mpi/crowd/assembled.cpp) under every
// schedule: each rank has the result of its own call, and hears of it.
#include "rooms.h"

#include <cstring>
#include <gtest/gtest.h>
#include <initializer_list>

namespace sennit::schedules {
namespace {

using namespace mpi;

// One call of all ranks.
struct Call {
    enum class Kind : std::uint8_t { meets, broadcast, reduction };
    Kind kind;
    int root = 0;
    int count = 1; // numbers that each rank brings to a reduction
};
constexpr int kLong = 5; // of such parts there is room for one

// Each rank makes the calls of a plan. What it brings to call n is n.
class Calls {
  public:
    // Does a rank look again when it has armed its bell?
    Calls(int ranks, std::vector<Call> plan, bool looks_again = true)
        : node_(ranks), plan_(std::move(plan)), looks_again_(looks_again) {}

    Test test() {
        Test test = node_.test_of(*this);
        test.begin = [this] { begin(); };
        for (int i = 0; i < node_.ranks(); ++i)
            test.threads.emplace_back([this, i] { run(i); });
        test.state = [this] {
            std::uint64_t all = 0;
            for (const int call : at_)
                all = 64 * all + static_cast<std::uint64_t>(call);
            return all;
        };
        return test;
    }

  private:
    void begin() {
        node_.begin();
        at_ = {};
    }
    void run(int me) {
        for (int call = 0; call < static_cast<int>(plan_.size()); ++call) {
            at_[static_cast<std::size_t>(me)] = call + 1;
            begin_anew(static_cast<std::uint64_t>(call));
            make(me, call);
        }
    }
    void make(int me, int number) {
        const Call &call = plan_[static_cast<std::size_t>(number)];
        Assembled &assembled = node_.rank(me).assembled;
        const bool is_root = me == call.root;
        int in[kLong], out[kLong] = {};
        std::fill_n(in, kLong, number + 1);
        if (call.kind == Call::Kind::broadcast) {
            int value = is_root ? number + 1 : 0;
            Broadcast broadcast(&value, 1, MPI_INT, call.root);
            broadcast.fits(node::Assembly::kMostBytes);
            wait_for<BroadcastCall>(me, number, assembled, broadcast);
            return check(value, number + 1, "the note of another call");
        }
        Reduction reduction;
        reduction.in = in;
        reduction.out = out;
        reduction.count = call.count;
        const int sum = node_.ranks() * (number + 1);
        if (call.kind == Call::Kind::meets) {
            reduction.fits(node::Assembly::kMostBytes);
            wait_for<AssembledCall>(me, number, assembled, reduction);
            for (int rank = 0; rank < node_.ranks(); ++rank)
                if (at_[static_cast<std::size_t>(rank)] < number + 1)
                    fail("a rank leaves before all have come");
            return check(out[0], sum, "the result of another call");
        }
        reduction.root = call.root;
        reduction.fits(node::Assembly::kMostBytes);
        wait_for<ReduceCall>(me, number, assembled, reduction);
        for (int i = 0; i < call.count && is_root; ++i)
            check(out[i], sum, "the part of another call");
    }
    static void check(int found, int expected, const char *otherwise) {
        if (found != expected)
            fail(otherwise);
    }

    // As mpi/crowd/vigil.cpp: without a timer.
    template <class Kind, class What>
    void wait_for(int me, int number, Assembled &assembled, const What &what) {
        Kind call(assembled, "a call", what);
        Neighbours &neighbours = node_.rank(me).neighbours;
        while (!call.test()) {
            begin_anew(static_cast<std::uint64_t>(number));
            const std::uint32_t seen = neighbours.arm();
            if (looks_again_ && call.test())
                return;
            neighbours.sleep(seen, -1);
            begin_anew(static_cast<std::uint64_t>(number));
        }
    }

    Node node_;
    const std::vector<Call> plan_;
    const bool looks_again_;
    std::array<int, Node::kMost> at_{}; // which call each rank has come to
};

using enum Call::Kind;
using Plan = std::vector<Call>;

std::string failure_of(std::initializer_list<Calls *> all) {
    std::string failures;
    for (Calls *const calls : all)
        failures += schedules::failure_of(calls->test());
    return failures;
}

TEST(Meetings, RanksTakeTheResultOfTheirCall) {
    Calls two(2, {{meets}, {meets}, {meets}}), three(3, {{meets}}), deaf(2, {{meets}}, false);
    EXPECT_EQ(failure_of({&two, &three}), "");
    EXPECT_EQ(explore(deaf.test()).failure, "somebody waits for ever");
    using enum Flaw::Kind;
    EXPECT_EQ(
        not_refused({two.test()}, {{late, "copy_shared(assembly_->result(), parts_"},
                                   {late, "copy_shared(assembled_.parts_[assembled_.rank_]->bytes"},
                                   {late, "here_.store(0"},
                                   {lost, "here_.store(0"},
                                   {torn, "here_.fetch_add(one"},
                                   {early, "over_.load(std::memory_order_acquire) == number", 2},
                                   {lost, "rings_.fetch_add"},
                                   {lost, "full_fence(); // pairs with arm()"}}),
        "");
}

TEST(Meetings, RanksThatGoAheadReadTheNoteOfTheirBroadcast) {
    Calls ahead(2, {{broadcast}, {broadcast}, {broadcast}, {broadcast}}),
        roots(2, {{broadcast}, {broadcast, 1}, {broadcast}, {broadcast, 1}}),
        meet(2, {{broadcast}, {meets}, {broadcast, 1}, {broadcast, 1}, {meets}}),
        three(3, {{broadcast}, {broadcast, 1}});
    EXPECT_EQ(failure_of({&ahead, &roots, &meet, &three}), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({ahead.test(), roots.test(), meet.test()},
                          {{late, "copy_shared(note.bytes", 2},
                           {early, "over_.load(std::memory_order_acquire) == number", 2},
                           {early, "over_.load(std::memory_order_acquire) == number", 3},
                           {lost, "over_.store(number"},
                           {torn, "here_.fetch_add(one"}}),
              "");
}

TEST(Meetings, RootsTakeThePartsOfTheirReduction) {
    Calls ahead(2, {{reduction}, {reduction}, {reduction}, {reduction}}),
        roots(2, {{reduction, 1}, {reduction}, {reduction, 1}}),
        room(2, {{reduction, 0, kLong}, {reduction, 0, kLong}, {reduction, 1}}),
        meet(2, {{reduction}, {meets}, {reduction}, {broadcast}});
    EXPECT_EQ(failure_of({&ahead, &roots, &room, &meet}), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({roots.test(), room.test(), meet.test(), ahead.test()},
                          {{late, "copy_shared(own.brought + offset_", 3},
                           {lost, "brought_.store(0"},
                           {torn, "brought_.fetch_add(1"},
                           {early, "over_.load(std::memory_order_acquire) == number", 2},
                           {early, "over_.load(std::memory_order_acquire) == number", 3}}),
              "");
}

// Two threads of a job's only rank: the second one comes to its call when the first one is through
// with its own, which is over at once.
class InTurn {
  public:
    Test test() {
        Test test = node_.test_of(*this);
        test.begin = [this] {
            node_.begin();
            node_.rank(0).assembled.take_numbers(1);
        };
        test.threads = {[this] { make(1); },
                        [this] { make(node_.rank(0).assembled.take_numbers(1)); }};
        return test;
    }

  private:
    void make(std::uint32_t number) {
        const Reduction none;
        AssembledCall call(node_.rank(0).assembled, "a call", none, number);
        Neighbours &neighbours = node_.rank(0).neighbours;
        while (!call.test()) {
            begin_anew(0);
            const std::uint32_t seen = neighbours.arm();
            if (call.test())
                return;
            neighbours.sleep(seen, -1);
            begin_anew(1);
        }
    }
    Node node_{1};
};

TEST(Meetings, TheNextCallOfARankHearsOfItsTurn) {
    InTurn turns;
    EXPECT_EQ(failure_of(turns.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({turns.test()}, {{late, "through_.store(number_"},
                                           {relaxed, "through_.store(number_"},
                                           {lost, "next_.fetch_add(count"},
                                           {lost, "rings_.fetch_add"}}),
              "");
}

// Ranks that agree on a new communicator (mpi/crowd/children.h): each reads what the others have
// brought to a call, and comes to a second one before it brings something else to a third.
class Agreement {
  public:
    explicit Agreement(bool meets_again) : meets_again_(meets_again) {}
    Test test() {
        Test test = node_.test_of(*this);
        for (int i = 0; i < kRanks; ++i)
            test.threads.emplace_back([this, i] { agree(i); });
        return test;
    }

  private:
    static constexpr int kRanks = 2, kOffer = 1, kOther = 2;
    void agree(int me) {
        bring(me, kOffer);
        for (int rank = 0; rank < kRanks; ++rank) {
            int offer = 0;
            copy_shared(&offer, node_.part(rank).bytes, sizeof offer);
            if (offer != kOffer)
                fail("what was brought to another call");
        }
        if (meets_again_)
            bring(me, 0);
        bring(me, kOther);
    }
    void bring(int me, int what) {
        Reduction reduction;
        reduction.in = &what;
        reduction.combines = false;
        reduction.bytes = what != 0 ? sizeof what : 0;
        AssembledCall call(node_.rank(me).assembled, "a call", reduction);
        while (!call.test())
            wait_for_change();
    }

    const bool meets_again_;
    Node node_{kRanks};
};

TEST(Meetings, RanksThatAgreeReadTheOffersOfAll) {
    EXPECT_EQ(failure_of(Agreement(true).test()), "");
    EXPECT_EQ(explore(Agreement(false).test()).failure, "what was brought to another call");
}

} // namespace
} // namespace sennit::schedules
