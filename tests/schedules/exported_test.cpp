// SPDX-License-Identifier: Apache-2.0
// Ranks that export a range of one name at once, and one of them is killed (ranks/exported/
// registry.cpp), under every schedule.
#include "schedules.h"

#include "ranks/exported/registry.h"

#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

using exported::ExportState;
using exported::Outcome;
using exported::Registry;

// Thread i is rank i + 1. The first one may take its range back; the second one may be killed, and
// then the host, a thread of its own, frees what it has left.
class Exporting {
  public:
    Exporting(bool takes_back, bool is_killed) : takes_back_(takes_back), is_killed_(is_killed) {}

    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            make_anew(registry_);
            outcomes_ = {};
        };
        for (int i = 0; i < kRanks; ++i)
            test.threads.emplace_back([this, i] { run(i); });
        if (is_killed_)
            test.threads.emplace_back([this] {
                wait_for_end(kRanks - 1);
                registry_.end_of(kRanks);
            });
        test.state = [this] {
            std::uint64_t all = 0;
            for (const int outcome : outcomes_)
                all = 16 * all + static_cast<std::uint64_t>(outcome);
            return all;
        };
        test.end = [this] { return end(); };
        return test;
    }

  private:
    static constexpr int kRanks = 2;
    static constexpr int kAdded = 10; // outcomes of add() are less, and one more than they are
    void run(int me) {
        const pid_t self = me + 1;
        if (is_killed_ && me == kRanks - 1)
            become_mortal();
        std::uint64_t id = 0;
        const Outcome outcome = registry_.add(self, "name", ExportState{}, id);
        if (outcome == Outcome::full)
            fail("there is no room");
        outcomes_[static_cast<std::size_t>(me)] = outcome == Outcome::done ? kAdded : 1;
        if (me == 0 && takes_back_ && outcome == Outcome::done &&
            registry_.remove(self, id) != Outcome::done)
            fail("a range is not there any more");
    }
    std::string end() {
        ExportState state;
        const std::uint64_t found = registry_.find("name");
        if (found != 0 && !registry_.get(found, state))
            return "a range is not there though its name is";
        if (is_killed_ && state.owner == kRanks)
            return "a killed rank has left its range";
        const bool is_wanted = !takes_back_ && outcomes_[0] == kAdded;
        if (is_wanted && found == 0)
            return "a range is lost";
        if (found != 0 &&
            (registry_.remove(state.owner, found) != Outcome::done || registry_.find("name") != 0))
            return "two ranges of a name";
        for (std::size_t i = 0; i < Registry::kMost; ++i) {
            const char name[] = {static_cast<char>('a' + i), 0};
            std::uint64_t id = 0;
            if (registry_.add(1, name, ExportState{}, id) != Outcome::done)
                return "an entry is never free again";
        }
        return "";
    }

    const bool takes_back_, is_killed_;
    Registry registry_;
    std::array<int, kRanks> outcomes_{};
};

TEST(Exported, ANameIsThereOnceThoughARankIsKilled) {
    Exporting stays(false, false), beside_the_dead(false, true), is_taken_back(true, true);
    EXPECT_EQ(failure_of(stays.test()), "");
    EXPECT_EQ(failure_of(beside_the_dead.test()), "");
    EXPECT_EQ(failure_of(is_taken_back.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({stays.test(), beside_the_dead.test(), is_taken_back.test()},
                          {{lost, "compare_exchange_strong(proposed, latest"}, // does not settle
                           {torn, "latest_.compare_exchange_strong(latest, own"},
                           {lost, "latest_.compare_exchange_strong(latest, own"},
                           {torn, "entry.word.compare_exchange_strong(free, kReserved"},
                           {lost, "entry->word.store(0"},
                           {stale, "latest_.load(std::memory_order_acquire)"},
                           {lost, "entry.word.compare_exchange_weak(word, 0"}}),
              "");
}

} // namespace
} // namespace sennit::schedules
