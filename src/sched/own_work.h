// SPDX-License-Identifier: Apache-2.0
// Whose work a yield of the processor waited for: that of this process, or another program's.
#pragma once

#include <cstdint>

namespace sennit::sched {

class Worker;

// What other workers do, from now on, on the processor that `worker` is on: those of them that have
// noted it when they last waited or began a region. A hint, for the system may have moved them.
class OwnWork {
  public:
    explicit OwnWork(const Worker &worker);
    // Processor time.
    std::int64_t ns() const;

  private:
    static constexpr int kMost = 8; // each takes a system call

    std::int64_t sum() const;

    int threads_[kMost];
    int count_ = 0;
    std::int64_t before_ = 0;
};

} // namespace sennit::sched
