// SPDX-License-Identifier: Apache-2.0
// The receives of this process are told to the ranks that send. The receives of other ranks are
// told to the wire.
//
// State: a socket and a thread, from MPI_Init to MPI_Finalize. Any thread may call meanwhile.
#pragma once

#include "network/notices.h"

#include <cstdint>
#include <mpi.h>
#include <pthread.h>

namespace sennit::network {

class Receives {
  public:
    constexpr Receives() = default;
    Receives(const Receives &) = delete;
    Receives &operator=(const Receives &) = delete;

    // MPI is there: all ranks open their ends, and tell each other where these are.
    void begin();
    void end();
    void called(int peer, int tag, MPI_Comm comm) const;

  private:
    void listen() const;

    Notices notices_;
    std::uint64_t *addresses_ = nullptr; // of the ranks' ends
    int rank_ = 0;
    int ranks_ = 0;
    pthread_t thread_{};
    bool listening_ = false;
};

extern Receives g_receives;

} // namespace sennit::network
