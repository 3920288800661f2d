// SPDX-License-Identifier: Apache-2.0
// How long has been worked on an object. Sennit's runtime, if it is in the process, has an account
// for it, and pays in whose work tasks are. What the program says, and what is measured otherwise,
// is added.
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
    // Nanoseconds since the last call.
    std::int64_t take();

  private:
    std::uint32_t account_ = 0;
    std::uint64_t taken_ns_ = 0; // of the account's
    std::atomic<std::int64_t> added_ns_{0};
};

} // namespace sennit::objects
