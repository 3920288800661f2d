// SPDX-License-Identifier: Apache-2.0
// For whom a thread works, and how long. Its time is paid to one account after the other: when it
// turns from one to the next, what has passed since the last turn goes to the first one. So no
// nanosecond is paid twice, and what is worked for nobody is paid to nobody.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sennit::balance {

using Account = std::uint32_t;
inline constexpr Account kNobody = 0;

// One thread's. `clock()` is the thread's processor time (ns), `pay(account, ns)` books it.
class Attribution {
  public:
    Account account() const { return account_; }

    // Reads the clock only where the account changes.
    template <class Clock, class Pay>
    void switch_to(Account next, Clock clock, Pay pay) {
        if (next == account_)
            return;
        pay_until(clock(), pay);
        account_ = next;
    }

    // The thread goes on with the same; what it has worked so far is paid.
    template <class Clock, class Pay>
    void settle(Clock clock, Pay pay) {
        if (account_ != kNobody)
            pay_until(clock(), pay);
    }

  private:
    template <class Pay>
    void pay_until(std::int64_t now_ns, Pay pay) {
        if (account_ != kNobody)
            pay(account_, std::max<std::int64_t>(now_ns - since_ns_, 0));
        since_ns_ = now_ns;
    }

    Account account_ = kNobody;
    std::int64_t since_ns_ = 0; // until then all is paid
};

} // namespace sennit::balance
