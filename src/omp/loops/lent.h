// SPDX-License-Identifier: Apache-2.0
// Static loops that the compiler's plug-in has let go (pass/static_loops.h): a thread that is done
// takes over iterations that others have not begun. SENNIT_SPLIT=loops asks for it.
//
// Each thread begins with its static share and takes pieces of it. The rest can be stolen, a piece
// can not. So a piece is one that takes some microseconds, whatever the iterations cost: the first
// is a single iteration, and from there pieces grow or shrink. At most it is a quarter of what is
// left. A loop of which nobody takes over anything, run after run, is given out as any static loop,
// but once in a while.
#pragma once

#include "base/compiler.h"
#include "omp/loops/plan.h"

#include <atomic>
#include <cstdint>

namespace sennit::omp {

// One in the source: what its last runs have shown. Several teams may run it at the same time.
class LentLoop {
  public:
    // Its own, which the program has room for; made when it is asked for first.
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

// How long is a thread's next piece, if its last one was `length` iterations and took `us`
// microseconds? It is the first for length 0. `left`: iterations that the thread has, at least 1.
std::uint64_t next_lent_piece(std::uint64_t length, std::uint64_t us, std::uint64_t left);

// Half of what the thread with the most has left becomes this thread's. Returns how much; 0 when
// all are empty, or are about to be. `offered`: of what is offered, where threads say what is.
enum class Takes : std::uint8_t { all, offered };
std::uint64_t take_over(const Member &member, const Loop &loop, Takes takes = Takes::all);

} // namespace sennit::omp
