// SPDX-License-Identifier: Apache-2.0
// How long threads have worked on an object. If Sennit's runtime is in the process, it has an
// account for the object, and adds the time of the tasks that work for it. What the program says,
// and what is measured in another way, is added.
#pragma once

#include <atomic>
#include <cstdint>

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

  private:
    std::uint32_t account_ = 0;
    std::uint64_t taken_ns_ = 0; // of the account's
    std::atomic<std::int64_t> added_ns_{0};
};

} // namespace sennit::objects
