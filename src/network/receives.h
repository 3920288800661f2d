// SPDX-License-Identifier: Apache-2.0
// The receives of this process are told to the ranks that send. The receives of other ranks are
// told to the wire.
//
// State: a socket and a thread, from MPI_Init to MPI_Finalize. Any thread may call meanwhile.
#pragma once

#include "network/notices.h"

#include <mpi.h>
#include <pthread.h>

namespace sennit::network {

class Receives {
  public:
    constexpr Receives() = default;
    Receives(const Receives &) = delete;
    Receives &operator=(const Receives &) = delete;

    // MPI is there: all ranks agree on a number, open their ends, and go on when all are open.
    void begin();
    void end();
    void called(int peer, int tag, MPI_Comm comm) const;

  private:
    void listen() const;

    Notices notices_;
    int rank_ = 0;
    pthread_t thread_{};
    bool listening_ = false;
};

extern Receives g_receives;

} // namespace sennit::network
