// SPDX-License-Identifier: Apache-2.0
// How long threads have worked on an object. If Sennit's runtime is in the process, it has an
// account for the object, and adds the time of the tasks that work for it. What the program says,
// and what is measured in another way, is added. If Sennit's MPI library is there, too, it counts
// the messages of these tasks.
#pragma once

#include "balance/partners.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace sennit::objects {

// Any thread.
class Load {
  public:
    Load();
    ~Load();
    Load(const Load &) = delete;
    Load &operator=(const Load &) = delete;

    std::uint32_t account() const { return account_; } // 0: there is none
    void add(std::int64_t ns) { added_ns_.fetch_add(ns, std::memory_order_relaxed); }
    // Returns the nanoseconds since the last call.
    std::int64_t take();

    // Count the messages of its tasks, or no more.
    void watch_messages(bool on);
    // Those since the last call, appended. None are known if nobody counts.
    void take_messages(int object, std::vector<balance::Mail> &mail);

  private:
    std::uint32_t account_ = 0;
    bool is_watched_ = false;
    std::uint64_t taken_ns_ = 0; // of the account's
    std::atomic<std::int64_t> added_ns_{0};
};

} // namespace sennit::objects
