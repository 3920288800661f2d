// SPDX-License-Identifier: Apache-2.0
// The way to `sennit run`, which judges the ranks of its machine together: a datagram for every
// look at a rank that stands still, and one that tells which process it is. The other end, and the
// format, are tools/sennit/hang/hang_judge.h.
#pragma once

#include <cstdint>

namespace sennit::watch {

class LauncherLink {
  public:
    // `address`: SENNIT_HANG_LINK, the launcher's socket; null: no launcher.
    void connect(const char *address);
    void disconnect();
    bool connected() const { return socket_ >= 0; }
    void send(int rank, std::uint64_t since, std::uint64_t now, std::uint64_t grace, bool outside,
              const char *text);
    void send_moves(int rank);
    // That this process is of the rank; false: it could not be said now.
    bool send_here(int rank);

  private:
    int socket_ = -1;
};

} // namespace sennit::watch
