// SPDX-License-Identifier: Apache-2.0
// A place in shared memory where the ranks of a job make a collective call without messages. All of
// them are on one node.
//
// The calls are numbered from 1; all ranks give a call the same number. A rank that comes to a call
// stores its part and counts itself. The last rank to come computes the result, and says that the
// call is over.
//
//   a rank that comes to call n                  the last one
//   1. stores its part                           1. stores its part
//   2. counts itself in `here_`                  2. counts itself, and so sees all parts
//   3. arms its bell                             3. writes the result, here_ = 0, over_ = n
//   4. over_ == n? Takes the result,             4. rings all (its fence pairs with that of arm())
//      else sleeps
//
// A rank's part is in the memory of the board that belongs to its slot (board.h). For the result
// there is one place in the assembly. That is enough: a rank comes to call n + 1 only when
// it has taken the result of call n. So when all have come to n + 1, all have taken the result of
// n. And nobody stores a part that the last rank of call n still reads.
#pragma once

#include "base/assert.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit::node {

class Assembly {
  public:
    static constexpr std::size_t kMostBytes = 256;

    // What one member brings to a call. The member may touch it between two calls, the last one to
    // come all of them.
    struct alignas(64) Part {
        std::byte bytes[kMostBytes];
        std::uint32_t call;              // what the member calls, a number
        std::atomic<std::uint32_t> came; // the last call to which the member has come

        // For reports, and for processes that look for dead members.
        bool has_come(std::uint32_t number) const {
            return came.load(std::memory_order_relaxed) == number;
        }
    };

    // Claim the place for a job. `seen` is what job() returned: 0, or a job without a living
    // process.
    bool claim(std::uint64_t seen, std::uint64_t job);
    // The job that has claimed the place, or 0.
    std::uint64_t job() const { return job_.load(std::memory_order_acquire); }
    // Give the place back: all members are through with their last call, or will never make one.
    void release() { job_.store(0, std::memory_order_release); }
    // Called by the process that has claimed the place, before the others know of it.
    void begin(int members);
    // For a place that is used by fewer than all ranks of the job: this member makes no more calls.
    // The last one to leave gives the place back.
    void leave() {
        if (left_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_)
            release();
    }

    int members() const { return members_; }
    // The member has stored its part. `call` is a number for what the member calls. Returns true
    // for the last member, which has to end() the call.
    bool come(Part &own, std::uint32_t number, std::uint32_t call) {
        SENNIT_ASSERT(!own.has_come(number) && here_.load(std::memory_order_relaxed) < members_);
        own.call = call;
        own.came.store(number, std::memory_order_relaxed);
        // Each member releases its part. The last one acquires them, and reads all.
        return here_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_;
    }
    std::byte *result() { return result_; }
    void end(std::uint32_t number) {
        SENNIT_ASSERT(here_.load(std::memory_order_relaxed) == members_);
        here_.store(0, std::memory_order_relaxed); // published with what follows
        over_.store(number, std::memory_order_release);
    }
    // For a member that has come to the call. True: the result is there.
    bool is_over(std::uint32_t number) const {
        return over_.load(std::memory_order_acquire) == number;
    }

  private:
    std::atomic<std::uint64_t> job_;
    std::int32_t members_;
    std::atomic<std::int32_t> left_;
    alignas(64) std::atomic<std::int32_t> here_;  // how many have come to the call
    alignas(64) std::atomic<std::uint32_t> over_; // the last call that is over
    alignas(64) std::byte result_[kMostBytes];
};

} // namespace sennit::node
