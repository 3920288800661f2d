// SPDX-License-Identifier: Apache-2.0
// Rank fibers under every schedule: a fiber that leaves its home, or a carrier, to wait; the
// threads that ring for it; and the carriers, which may all sleep (ranks/fibers/fiber_rings.cpp,
// crew.cpp, home.cpp, party.cpp). No limit of time makes up for a lost wake-up here.
#include "rooms.h"

#include "ranks/fibers/home.h"

#include <array>
#include <gtest/gtest.h>
#include <optional>
#include <sys/auxv.h>

namespace sennit::schedules {
namespace {

using virt::Crew;
using virt::RankFiber;

constexpr std::int64_t kForeverNs = std::int64_t{1} << 60;

// A host with its carriers, and fibers of its.
class Host {
  public:
    virtual ~Host() = default;

  protected:
    explicit Host(bool is_pooled = false) : is_pooled_(is_pooled) {}

    Test test_of(std::span<std::byte> memory) {
        begin_all(); // where it all lies
        Test test;
        auto *const first = reinterpret_cast<std::byte *>(&crew_);
        auto *const table = reinterpret_cast<std::byte *>(&crew_.fibers());
        constexpr std::size_t kOfTable = 64; // what changes of it: its end
        auto *const behind = table + sizeof crew_.fibers();
        const auto past = [](auto &object) { return reinterpret_cast<std::byte *>(&object + 1); };
        test.memory = {
            memory, memory_of(g_rooms.naps), {first, table + kOfTable}, {behind, past(crew_)}};
        for (std::size_t i = 0; i < kMostCarriers; ++i)
            test.memory.push_back(memory_of(carrier_at(i)));
        for (RankFiber *const fiber : fibers_)
            test.memory.push_back(memory_of(*fiber));
        test.begin = [this] { begin_all(); };
        test.state = [this] { return state(); };
        test.end = [this] { return end(); };
        return test;
    }
    static void run_carrier(std::size_t number) { g_rooms.carrier(&carrier_at(number)); }
    std::function<void()> watcher() {
        return [this] { g_rooms.watcher(&crew_); };
    }

    virtual void begin() = 0;
    // The fiber goes on, on a carrier.
    virtual void run(RankFiber &fiber) = 0;
    // The watcher does so before it looks around, the n-th time.
    virtual void nap(int /*number*/) { end_thread(); }
    virtual std::uint64_t state() const = 0;
    virtual std::string end() const { return ""; }

    std::array<RankFiber *, kMostFibers> fibers_{};

  private:
    void begin_all() {
        g_rooms = {};
        g_rooms.is_pooled = is_pooled_;
        g_rooms.nap = [this](int number) { nap(number); };
        g_rooms.run = [this](RankFiber &fiber) { run(fiber); };
        make_anew(crew_);
        for (RankFiber *&fiber : fibers_) {
            fiber = crew_.add();
            fiber->stack_pointer = fiber;
            fiber->process.store(1);
        }
        cpu_set_t cores;
        CPU_ZERO(&cores);
        for (std::size_t i = 0; i < kMostCarriers; ++i)
            CPU_SET(i, &cores);
        crew_.staff(cores);
        begin();
    }

    static inline Crew crew_;
    const bool is_pooled_;
};

// ---- rings ----------------------------------------------------------------------------------

// A fiber waits until two threads have changed a word and rung, again for each change that it has
// not seen.
class Rings final : public Host {
  public:
    // What it leaves to wait; or it has waited for long.
    enum class From : std::uint8_t { home, carrier, nothing };
    // The first thread that rings: it lives, or may die on its way.
    enum class Dies : std::uint8_t { no, alone, beside_the_watcher };
    Rings(From from, std::uint32_t ringers, std::size_t carriers, Dies dies = Dies::no)
        : from_(from), ringers_(ringers), carriers_(carriers), dies_(dies) {}

    Test test() {
        Test test = test_of(memory_of(*this));
        for (std::uint32_t i = 0; i < ringers_; ++i)
            test.threads.emplace_back([this, i] { ring(i == 0); });
        for (std::size_t i = 0; i < carriers_; ++i)
            test.threads.emplace_back([i] { run_carrier(i); });
        if (from_ == From::home)
            test.threads.emplace_back([this] { leave_carrier_or_home(0); });
        if (dies_ == Dies::beside_the_watcher)
            test.threads.emplace_back(watcher());
        test.spins_end = true;
        return test;
    }

  private:
    void begin() override {
        make_anew(word_);
        fiber_ = fibers_[0];
        if (from_ != From::home) {
            fiber_->watched[0] = {&word_, 0};
            fiber_->limit_ns = kForeverNs;
            fiber_->go(virt::Stage::waiting);
            if (from_ == From::carrier)
                fiber_->rings->ring(*fiber_, nullptr);
        }
    }
    // The first one may be killed on its way, and the second one comes after that.
    void ring(bool is_first) {
        if (dies_ != Dies::no && !is_first)
            wait_for_end(0);
        word_.fetch_add(1);
        if (dies_ != Dies::no && is_first)
            become_mortal();
        fiber_->calls->ring(*fiber_, nullptr);
    }
    void leave_carrier_or_home(std::uint32_t seen) {
        fiber_->calls->wait(*fiber_, {&word_, seen}, {}, kForeverNs);
    }
    void nap(int number) override {
        if (number > 0)
            end_thread();
        wait_for_end(0);
    }
    void run(RankFiber &) override {
        begin_anew(1 << 22); // another fiber, or the same one once more
        const std::uint32_t seen = word_.load();
        if (seen == ringers_)
            end_schedule();
        leave_carrier_or_home(seen);
    }
    std::uint64_t state() const override {
        return 2 * fiber_->watched[0].seen + (fiber_->deadline_ns != 0 ? 1 : 0);
    }

    const From from_;
    const std::uint32_t ringers_;
    const std::size_t carriers_;
    const Dies dies_;
    RankFiber *fiber_ = nullptr;
    Atomic<std::uint32_t> word_{0};
};

using From = Rings::From;

class RankFibers : public testing::Test {
  protected:
    void SetUp() override {
        constexpr unsigned long writes_thread_pointer = 2; // HWCAP2_FSGSBASE
        if ((getauxval(AT_HWCAP2) & writes_thread_pointer) == 0)
            GTEST_SKIP() << "there are no rank fibers on this processor";
    }
};

TEST_F(RankFibers, RunWhenSomebodyHasRungForThem) {
    Rings from_home(From::home, 1, 1), from_carrier(From::carrier, 2, 1),
        two_carriers(From::carrier, 1, 2);
    for (Rings *const rings : {&from_home, &from_carrier, &two_carriers})
        EXPECT_EQ(failure_of(rings->test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({from_home.test(), from_carrier.test(), two_carriers.test()},
                          {{late, "stage.store(to, order)"}, // looks before it waits
                           {lost, "stage.store(to, order)"},
                           {late, "words_[i].exchange(0)"}, // clears after it has looked
                           {stale, "word->load() != seen"}, // a carrier does not look
                           {lost, "word.fetch_or(bit)"},
                           {late, "sleeping_.fetch_add(1)", 6}, // says late that it sleeps
                           {lost, "sleeping_.fetch_add(1)"},
                           {lost, "wakes_.fetch_add(1)"},
                           {late, "wakes_.fetch_add(1)"}}),
              "");
}

TEST_F(RankFibers, AreNotDeafWhenARankIsKilledAsItRings) {
    Rings watched(From::nothing, 2, 1, Rings::Dies::beside_the_watcher),
        alone(From::nothing, 2, 1, Rings::Dies::alone);
    EXPECT_EQ(failure_of(watched.test()), "");
    EXPECT_EQ(explore(alone.test()).failure, "somebody waits for ever");
    // The watcher looks for sleepers before others see what it has made ready.
    EXPECT_EQ(not_refused({watched.test()},
                          {{Flaw::Kind::lost, "full_fence(); // pairs with sleeping_"}}),
              "");
}

// ---- cores ----------------------------------------------------------------------------------

// Two fibers of one program, one of which is rung for later, and two carriers, which take a core
// before they run them, and run them for good. First thread 0, the watcher, begins the program's
// party, and makes the other fiber ready.
class Asking final : public Host {
  public:
    Asking() : Host(true) {}
    Test test() {
        Test test = test_of(memory_of(*this));
        test.threads = {watcher()};
        for (std::size_t i = 0; i < kMostCarriers; ++i)
            test.threads.emplace_back([i] {
                wait_for_end(0);
                run_carrier(i);
            });
        test.threads.emplace_back([this] {
            wait_for_end(0);
            ring(*fibers_[1]);
        });
        test.spins_end = true;
        return test;
    }

  private:
    void begin() override {
        ran_ = 0;
        for (RankFiber *const fiber : fibers_) {
            fiber->job.store(1);
            fiber->limit_ns = kForeverNs;
            fiber->go(virt::Stage::waiting);
        }
    }
    static void ring(RankFiber &fiber) { fiber.calls->ring(fiber, nullptr); }
    void nap(int number) override {
        if (number == 1)
            ring(*fibers_[0]);
        else if (number > 1)
            end_thread();
    }
    void run(RankFiber &fiber) override {
        ran_ |= std::uint64_t{1} << fiber.number;
        if (ran_ == (1 << kMostFibers) - 1)
            end_schedule();
        end_thread();
    }
    std::uint64_t state() const override { return ran_; }

    std::uint64_t ran_ = 0; // a bit each
};

TEST_F(RankFibers, HaveACoreEachThoughOneCarrierAsksAtATime) {
    Asking asking;
    EXPECT_EQ(failure_of(asking.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({asking.test()}, {{late, "party->asking.store(false)", 16},
                                            {lost, "party->asking.store(false)"},
                                            {late, "sleeping_.fetch_add(1)", 6}}),
              "");
}

} // namespace
} // namespace sennit::schedules
