// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking form - on windows and files, on communicators, reductions with an
// operation of the program's own - spin inside of MPI. If ranks outnumber cores, such a call leaves
// the core from within. It can, because Sennit stands in front of a function that MPI calls
// whenever it looks for messages (looks.cpp). Open MPI's also yields by itself
// (quirks/own_yields.h).
//
// A thread that has looked in vain for some time yields, and later naps on the bell of the rank.
// Nobody knows for which rank such a call waits. So a thread that begins to spin rings all ranks of
// the node that sleep: one of them may have to answer. The number of these rings in one call is
// bounded, or the ranks would wake each other for ever.
#pragma once

#include "mpi/crowd/neighbours.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace sennit::mpi {

class Spins {
  public:
    // A call begins that may spin.
    void begins() { looks_ = rings_ = 0; }
    // MPI has looked for messages. `found`: there was something.
    void looked(bool found) {
        if (found) {
            looks_ = rings_ = 0;
            note_found();
        } else if (++looks_ >= kLooks) {
            rest();
        }
    }
    void note_found() { found_ = true; }
    // Has it found something since this was asked last? Then it may have answered, and nobody has
    // rung for that.
    bool take_found() { return std::exchange(found_, false); }
    // This thread looks by itself, and rests between two looks (vigil.h).
    void rests() { looks_ = 0; }

    // A fiber's nap is a small part of the time that it has waited. Inside of one call ranks may
    // have to answer each other many times. MPI neither rings nor says that it has found something,
    // so each answer waits for the end of a nap. With short naps the wait gets a little longer, not
    // twice as long, and waking up costs a fiber little.
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
    bool found_ = false;
};

#pragma GCC visibility push(hidden)
extern constinit thread_local Spins t_spins __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop

} // namespace sennit::mpi
