// SPDX-License-Identifier: Apache-2.0
// What MPI's tickets are made of (mpi/engine/tickets.h): an inbox that any thread fills (Inbox),
// and the token of the one that empties it (Token). And answers beside the end of MPI
// (mpi/wrap/init_finalize.h). Under every schedule.
#include "schedules.h"

#include "base/inbox.h"
#include "mpi/wrap/init_finalize.h"

#include <array>
#include <gtest/gtest.h>

namespace sennit::schedules {
namespace {

// Threads 0 and 1 file tickets, each in the same place again as soon as the last one is over. 2 and
// 3 test.
class Filing {
  public:
    explicit Filing(int rounds) : rounds_(rounds) {}
    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            make_anew(inbox_);
            make_anew(token_);
            make_anew(over_);
            for (Ticket &ticket : tickets_)
                make_anew(ticket);
            inside_ = 0;
        };
        for (std::size_t i = 0; i < kFilers; ++i)
            test.threads.emplace_back([this, i] { file(tickets_[i]); });
        for (int i = 0; i < 2; ++i)
            test.threads.emplace_back([this] { test_all(); });
        test.state = [this] {
            std::uint64_t all = static_cast<std::uint64_t>(inside_);
            for (const Ticket &ticket : tickets_)
                all = 4 * all +
                      static_cast<std::uint64_t>(ticket.next ? ticket.next - &tickets_[0] + 1 : 0);
            return all;
        };
        test.end = [this] { return inside_ == 0 ? "" : "a token is left over"; };
        return test;
    }

  private:
    static constexpr std::size_t kFilers = 2;
    struct Ticket {
        Ticket *next = nullptr;
        Atomic<bool> filed{false};
    };

    void file(Ticket &ticket) {
        for (int round = 0; round < rounds_; ++round) {
            begin_anew(static_cast<std::uint64_t>(round));
            ticket.filed.store(true, std::memory_order_relaxed);
            inbox_.push(ticket);
            wait_while(ticket.filed.word(), 1);
        }
    }
    void test_all() {
        for (;;) {
            begin_anew(0);
            if (over_.load(std::memory_order_relaxed) == rounds_ * static_cast<int>(kFilers))
                return;
            if (!inbox_.any() || !token_.take()) {
                wait_for_change();
                continue;
            }
            if (++inside_ != 1)
                fail("two test at once");
            for (Ticket *at = inbox_.take_all().oldest; at;) {
                Ticket *const next = at->next;
                if (!at->filed.load(std::memory_order_relaxed))
                    fail("a ticket is tested that is over");
                over_.fetch_add(1, std::memory_order_relaxed);
                at->filed.store(false, std::memory_order_release); // its owner's again
                at = next;
            }
            --inside_;
            token_.release();
        }
    }

    const int rounds_;
    Inbox<Ticket> inbox_;
    Token token_;
    Atomic<int> over_{0};
    std::array<Ticket, kFilers> tickets_;
    int inside_ = 0;
};

TEST(Tickets, EveryTicketIsTestedOnce) {
    Filing filing(2);
    EXPECT_EQ(failure_of(filing.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({filing.test()},
                          {{torn, "newest_.exchange(nullptr"}, // looks, and then empties it
                           {lost, "newest_.exchange(nullptr"},
                           {torn, "newest_.compare_exchange_weak"},
                           {torn, "taken_.exchange(true"},
                           {lost, "taken_.exchange(true"}}),
              "");
}

// Thread 0 asks MPI, thread 1 ends it.
class Finalizing {
  public:
    Test test() {
        Test test;
        test.memory = {memory_of(*this)};
        test.begin = [this] {
            make_anew(answers_);
            make_anew(open_, true);
            make_anew(finalized_);
        };
        test.threads = {
            [this] {
                const auto is_open = [this] { return open_.load(std::memory_order_relaxed); };
                if (answers_.begin(is_open) && finalized_.load())
                    fail("MPI is asked after its end");
                answers_.end();
            },
            [this] {
                answers_.close([this] { open_.store(false, std::memory_order_relaxed); });
                finalized_.store(true);
            }};
        test.state = [] { return 0; };
        test.end = [] { return ""; };
        return test;
    }

  private:
    mpi::Answers answers_;
    Atomic<bool> open_{true}, finalized_{false};
};

TEST(Answers, AreGivenWithoutMpiAfterItsEnd) {
    Finalizing finalizing;
    EXPECT_EQ(failure_of(finalizing.test()), "");
    using enum Flaw::Kind;
    EXPECT_EQ(not_refused({finalizing.test()}, {{lost, "full_fence(); // pairs with begin()"},
                                                {lost, "asking_.fetch_add"},
                                                {late, "asking_.fetch_add"},
                                                {lost, "open_.store(false"},
                                                {late, "open_.store(false"},
                                                {stale, "asking_.load"}}),
              "");
}

} // namespace
} // namespace sennit::schedules

// answers wait by it.
extern "C" int __wrap_sched_yield() {
    sennit::schedules::wait_for_change();
    return 0;
}
