// SPDX-License-Identifier: Apache-2.0
// What the threads of a team share in a worksharing construct, step by step as the code does it:
// the ring of descriptors, the turn of an ordered loop (openmp/loops/worksharing.cpp). Each model
// also has a version with two steps exchanged, which the checker must refuse.
#include "interleavings.h"

#include <array>
#include <compare>

namespace sennit::model {
namespace {

// ---- the ring: loop_begin, loop_end ----------------------------------------------------------

constexpr int kRing = 2;
constexpr int kConstructs = 4;
constexpr int kThreads = 2;
enum Setup : signed char { kFree, kBusy, kReady };

struct Descriptor {
    int turn = 0, left = 0, construct = -1; // the construct that it is set up for
    Setup setup = kFree;
    auto operator<=>(const Descriptor &) const = default;
};

struct Ring {
    int pc[kThreads] = {}, construct[kThreads] = {};
    std::array<Descriptor, kRing> ring{};
    auto operator<=>(const Ring &) const = default;
};

// The wrong one passes the turn on before the descriptor is free.
Outcome ring_step(Ring &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    int &construct = s.construct[thread];
    if (construct == kConstructs)
        return Outcome::ended;
    Descriptor &its = s.ring[static_cast<std::size_t>(construct % kRing)];
    switch (pc) {
    case 0:
        if (its.turn != construct)
            return Outcome::waits;
        break;
    case 1: // who claims it sets it up
        if (its.setup == kFree)
            its.setup = kBusy;
        else
            pc = 3;
        break;
    case 2:
        its.construct = construct;
        its.left = 0;
        break;
    case 3:
        its.setup = kReady;
        break;
    case 4:
        if (its.setup != kReady)
            return Outcome::waits;
        break;
    case 5: // its pieces
        if (its.construct != construct)
            broken = "a thread takes pieces of another construct";
        break;
    case 6: // who leaves last makes room for construct + kRing
        if (++its.left < kThreads) {
            ++construct;
            pc = -1;
        }
        break;
    default:
        if ((pc == 7) == right) {
            its.setup = kFree;
        } else {
            its.turn = construct + kRing;
        }
        if (pc == 8) {
            ++construct;
            pc = -1;
        }
        break;
    }
    ++pc;
    return Outcome::ran;
}

TEST(Interleavings, AWorksharingDescriptorIsForOneConstructAtATime) {
    Ring start;
    for (int i = 0; i < kRing; ++i)
        start.ring[static_cast<std::size_t>(i)].turn = i;
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(start, kThreads, ring_step, right);
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

// ---- ordered: OrderedTurn, advance -----------------------------------------------------------

struct Ordered {
    int pc[3] = {};
    int first[3] = {-1, -1, -1}; // ordered_first: the piece that a thread has
    int turn = 0, parked = 0;
    bool armed[3] = {}, woken[3] = {};
    int inside = 0;
    auto operator<=>(const Ordered &) const = default;
};

// Thread i has piece i. The wrong one looks at the turn before it counts itself as parked.
Outcome ordered_step(Ordered &s, int thread, std::string &broken, bool right) {
    int &pc = s.pc[thread];
    switch (pc) {
    case 0:
        s.first[thread] = thread;
        pc = 1;
        return Outcome::ran;
    case 1: // done()?
        pc = s.turn >= thread ? 6 : 2;
        return Outcome::ran;
    case 2:
        s.woken[thread] = false;
        s.armed[thread] = true;
        pc = 3;
        return Outcome::ran;
    case 3:
    case 4: // count, then look; the wrong one looks first
        if ((pc == 3) == right)
            ++s.parked;
        else if (s.turn >= thread) {
            s.armed[thread] = false;
            s.parked -= right;
            pc = 5;
        }
        ++pc;
        return Outcome::ran;
    case 5:
        if (!s.woken[thread])
            return Outcome::waits;
        --s.parked;
        pc = 1;
        return Outcome::ran;
    case 6:
        if (++s.inside > 1 || s.turn != thread)
            broken = "a piece is out of order";
        pc = 7;
        return Outcome::ran;
    case 7: // advance()
        --s.inside;
        s.turn = thread + 1;
        pc = 8;
        return Outcome::ran;
    case 8:
        pc = s.parked == 0 ? 10 : 9;
        return Outcome::ran;
    case 9: // signal_if_armed
        for (int i = 0; i < 3; ++i)
            if (s.first[i] == thread + 1 && s.armed[i]) {
                s.armed[i] = false;
                s.woken[i] = true;
            }
        pc = 10;
        return Outcome::ran;
    default:
        return Outcome::ended;
    }
}

TEST(Interleavings, AnOrderedTurnReachesWhoSleeps) {
    for (const bool right : {true, false}) {
        const std::string failure = failure_of(Ordered{}, 3, ordered_step, right);
        EXPECT_EQ(failure.empty(), right) << failure;
    }
}

} // namespace
} // namespace sennit::model
