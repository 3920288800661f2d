// SPDX-License-Identifier: Apache-2.0
// Static loops that the compiler's plug-in has let go (pass/static_loops.h). A thread that is done
// takes over iterations that others have not begun. SENNIT_SPLIT=loops asks for it.
//
// Each thread begins with its static share and takes pieces of it. The rest can be stolen, a piece
// cannot. So a piece should take some microseconds, whatever the iterations cost. The first piece
// is a single iteration, and from there pieces grow or shrink. A piece is at most a quarter of what
// is left. If nobody takes over anything of a loop, run after run, it is given out as any static
// loop, except once in a while.
#pragma once

#include "base/compiler.h"
#include "openmp/loops/plans.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

// One loop in the source: what its last runs have shown. Several teams may run it at the same time.
class LentLoop {
  public:
    // The loop's own. The program has room for it. It is made when it is first asked for.
    static LentLoop &at(std::atomic<LentLoop *> &place);

    void begin(Loop &loop, int threads);
    void end(bool any_taken); // of a run that was offered to others

    static constexpr unsigned kEnd = 8;         // runs of which nothing is taken
    static constexpr unsigned kProbeEvery = 64; // runs that are not offered after that

  private:
    bool is_offered();

    std::atomic<unsigned> untaken_{0}; // runs in a row
    std::atomic<unsigned> kept_{0};    // runs that were not offered since
};

// How long is a thread's next piece, if its last one had `length` iterations and took `us`
// microseconds? Length 0: there was none. `left`: iterations that the thread has, at least 1.
std::uint64_t next_lent_piece(std::uint64_t length, std::uint64_t us, std::uint64_t left);

// Half of what the thread with the most has left becomes this thread's. Returns how much. 0: all
// are empty, or are about to be. `offered`: only of what is offered, where threads say what is.
enum class Takes : std::uint8_t { all, offered };
std::uint64_t take_over(const Member &member, const Loop &loop, Takes takes = Takes::all);

} // namespace sennit::omp
