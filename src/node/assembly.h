// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a job meet that are all on one node: a collective call without messages.
//
// The calls have numbers, the same on all ranks, from 1. Who comes to a call lays its part down and
// counts itself. The last one to come works out the result, and says that the call is over.
//
//   who comes to call n                          who is the last
//   1. its part                                  1. its part
//   2. counts itself in `here_`                  2. counts itself, and so sees all parts
//   3. arms its bell                             3. the result, here_ = 0, over_ = n
//   4. over_ == n? Takes the result              4. rings all (its fence pairs with that of arm())
//      else sleeps
//
// A rank comes to call n + 1 when it is through with call n. So at n + 1 all have come only when
// all have taken the result of n, and nobody lays down a part that the last one of n still reads.
// One place for the parts and one for the result are enough.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit::node {

class Assembly {
  public:
    static constexpr int kMostMembers = 64;
    static constexpr std::size_t kMostBytes = 256;

    // Claim it for a job; `seen`: job() was that, and it is 0 or the job has no living process.
    bool claim(std::uint64_t seen, std::uint64_t job);
    // Its job, or 0.
    std::uint64_t job() const { return job_.load(std::memory_order_acquire); }
    // All members are through with their last call, or will never make one.
    void release() { job_.store(0, std::memory_order_release); }
    // By who has claimed it, before the others know of it.
    void begin(int members);

    int members() const { return members_; }
    // The member's own, between two calls; all, for the last one to come.
    std::byte *part(int member) { return parts_[member].bytes; }
    // The member has laid its part down. `call`: what it does, as a number. True: it is the last
    // one, and has to end() the call.
    bool come(int member, std::uint32_t number, std::uint32_t call) {
        parts_[member].call = call;
        parts_[member].came.store(number, std::memory_order_relaxed);
        // The release of each is acquired by the last one, who reads all parts.
        return here_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_;
    }
    // For the last one to come: what a member does in the call.
    std::uint32_t call_of(int member) const { return parts_[member].call; }
    std::byte *result() { return result_; }
    void end(std::uint32_t number) {
        here_.store(0, std::memory_order_relaxed); // published with what follows
        over_.store(number, std::memory_order_release);
    }
    // For who has come to it. True: the result is there.
    bool is_over(std::uint32_t number) const {
        return over_.load(std::memory_order_acquire) == number;
    }
    // For reports and for who looks for the dead.
    bool has_come(int member, std::uint32_t number) const {
        return parts_[member].came.load(std::memory_order_relaxed) == number;
    }

  private:
    struct alignas(64) Part {
        std::byte bytes[kMostBytes];
        std::uint32_t call;
        std::atomic<std::uint32_t> came; // the last call to which it has come
    };

    std::atomic<std::uint64_t> job_;
    std::int32_t members_;
    alignas(64) std::atomic<std::int32_t> here_;  // how many have come to the call
    alignas(64) std::atomic<std::uint32_t> over_; // the last call that is over
    alignas(64) std::byte result_[kMostBytes];
    Part parts_[kMostMembers];
};

} // namespace sennit::node
