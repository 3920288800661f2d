// SPDX-License-Identifier: Apache-2.0
// Which addresses are this rank's own, so that a mapping at an address of its choice (MAP_FIXED)
// replaces nobody else's.
//
// The kernel does not know whose memory is whose, since ranks share it. So what the rank has mapped
// itself is written down. Its program and libraries are asked for when it matters. Everything else
// may be another's: libc maps without a word, so what it has given to malloc or to a thread looks
// like the memory of another rank.
//
// Invariant: what is written down is this rank's. It leaves the set before the kernel may give it
// to others.
#pragma once

#include "ranks/inside/address_set.h"

namespace sennit::loader::inside {

// Whole pages. An empty one: there is no such range, the kernel is to say so.
Range pages_at(const void *at, std::size_t size);

// Write it down. In a signal handler that has interrupted one of these functions it stays unknown.
void add_own(Range range);
// Returns the first part of `range` that was written down, and is no more.
Range take_own(Range range);

// Parts of a range that were free, and are mapped without access. No memory of ours may be in the
// way of what is to be mapped, so they lie on the caller's stack.
struct Claimed {
    static constexpr std::size_t kMost = 32;
    Range parts[kMost];
    std::size_t count = 0;
};

// Make all of it the rank's own. False: some of it may be another's; nothing has changed.
bool claim(Range range, Claimed &claimed);
// The mapping that was to come there has failed.
void give_back(Claimed &claimed);

} // namespace sennit::loader::inside
