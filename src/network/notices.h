// SPDX-License-Identifier: Apache-2.0
// How a process of a job on this machine tells another that it has called a receive: a datagram.
#pragma once

#include <cstdint>

namespace sennit::network {

struct Notice {
    std::int32_t rank; // who tells; -1: stop waiting for notices
    std::int32_t tag;
    std::uint64_t called; // monotonic ns
};

class Notices {
  public:
    // `job`: the same number in all processes of the job. False: errno says why not.
    bool open(std::uint64_t job, int rank);
    // To one that may have ended.
    void tell(int rank, const Notice &notice) const;
    // Waits for one. False: no more will come.
    bool next(Notice &notice) const;
    void close();

  private:
    int socket_ = -1;
    std::uint64_t job_ = 0;
};

} // namespace sennit::network
