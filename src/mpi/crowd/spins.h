// SPDX-License-Identifier: Apache-2.0
// Calls that have no non-blocking form - on windows and files, on communicators, reductions with an
// operation of the program's own - spin inside of MPI. Where ranks outnumber cores, they leave the
// core from within, for we stand in front of what MPI calls whenever it looks for messages: Open
// MPI's own function for that, which also yields by itself (quirks/own_yields.h), and of MPICH's
// network, UCX.
//
// Who has looked in vain for some time yields, and later naps, on the bell of the rank. Nobody
// knows whom such a call waits for. So who begins to spin rings all ranks of the node that sleep:
// one of them may have to answer. How often it does so in one call is bounded, or they would wake
// each other for ever.
#pragma once

#include "mpi/crowd/neighbours.h"

#include <algorithm>
#include <cstdint>

namespace sennit::mpi {

class Spins {
  public:
    // A call that may spin begins.
    void begins() { looks_ = rings_ = 0; }
    // MPI has looked for messages.
    void looked(bool found) {
        if (found)
            looks_ = rings_ = 0;
        else if (++looks_ >= kLooks)
            rest();
    }
    // This thread looks by itself, and rests in between (vigil.h).
    void rests() { looks_ = 0; }

    // To wake up costs a fiber little. Inside of one call ranks may have to answer each other many
    // times, and MPI does not say that it has found something, nor rings: each answer waits for a
    // nap, which makes the wait a little longer, not twice as long.
    static constexpr std::int64_t nap_of_fiber(std::int64_t waited_ns) {
        return std::clamp(waited_ns / kPartOfWait, kShortestNapNs, kLongestNapNs);
    }

  private:
    static constexpr std::int64_t kLongestNapNs = 2'000'000;
    static constexpr std::int64_t kShortestNapNs = 20'000;
    static constexpr std::int64_t kPartOfWait = 32;
    static constexpr int kLooks = 64;
    static constexpr int kRings = 8;

    void rest();

    std::int64_t begin_ns_ = 0; // of what it does now
    std::int64_t nap_ns_ = 0;   // 0: it yields
    std::uint32_t seen_ = 0;
    int looks_ = 0;
    int rings_ = 0;
    int looks_left_ = 0; // after a nap
    bool armed_ = false;
};

#pragma GCC visibility push(hidden)
extern constinit thread_local Spins t_spins __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

} // namespace sennit::mpi
