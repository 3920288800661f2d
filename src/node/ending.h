// SPDX-License-Identifier: Apache-2.0
// Which process of a job ends it, if several find at the same time that it cannot go on. If two do
// that at once, a launcher may take long to end, or for ever (MPICH's).
//
// The first one to claim it ends the job. It may die before, or may not succeed. So a claim counts
// for kPatience only. Of those that have waited for so long, one makes the next claim.
//
// The word is the job's number, plus the number of claims before. So nobody has to clear it for the
// next job: that one has another number.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

namespace sennit::node {

class Ending {
  public:
    static constexpr timespec kPatience{5, 0};

    // Returns when the caller has to end the job: at once, or never, as a rule.
    void claim(std::uint64_t job, const timespec &patience = kPatience);

  private:
    std::atomic<std::uint64_t> word_;
};

} // namespace sennit::node
