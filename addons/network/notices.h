// SPDX-License-Identifier: Apache-2.0
// How a process of a job on this machine tells another that it has called a receive: a datagram.
//
// Everybody on the machine sees the sockets and may send to them. Invariant: next() returns only
// notices of this user's processes, from ranks that there are, and nothing that is sent ends it.
#pragma once

#include <atomic>
#include <cstdint>

namespace sennit::network {

struct SendNotice {
    std::int32_t rank; // who tells
    std::int32_t tag;
    std::uint64_t called; // monotonic ns
};

class Notices {
  public:
    // Opens this process's end. `address`: what the others need to reach it. False: errno says why
    // not.
    bool open(std::uint64_t &address);
    // To one that may have ended, or may be on another machine.
    void tell(std::uint64_t address, const SendNotice &notice) const;
    // Waits for one from a rank of a job of `ranks`. False: no more will come.
    bool next(SendNotice &notice, int ranks) const;
    // From now on next() returns false.
    void stop();
    void close();

  private:
    int socket_ = -1;
    std::atomic<bool> stopping_{false};
};

} // namespace sennit::network
