// SPDX-License-Identifier: Apache-2.0
// Rank fibers: how virtual ranks of one address space take turns on a few kernel threads (paper
// mpi-process-virtualization, section 3).
//
// The main flow of a rank - its stack, its registers, its thread pointer - is a fiber, and so is
// each thread of its OpenMP teams. At *home*, on the kernel thread that it was started as, it is
// what any thread is. When it waits for a message, or for its team, it leaves home: the home thread
// parks on a small stack of its own, and the fiber goes on, once somebody has rung for it, on one
// of the host's *workers*, a kernel thread for each core. A worker goes from one fiber to the next
// without the kernel.
//
// What a process is to the kernel - its number, descriptors, folder, limits, signals - stays with
// the home thread. So the kernel is asked to let no system call of a fiber through on a worker
// (trap.h): it comes back as a signal, and the fiber goes home, where the call is made by the task
// that it is meant for, may block, and holds up nobody but this fiber. The same is done with a
// fault: it happens again at home, to the process whose fault it is. A signal for the rank wakes
// the home thread of its main flow, which calls that one home and takes the signal there. The home
// threads of team threads leave signals to it. So nothing of libc is
// wrapped, and no list of functions can miss one.
//
// This header is what the host and the ranks share. Each has its own copy of all code, and a rank
// knows the address of its own fiber from the auxiliary vector; all else it reaches through
// `calls`, whose code is the host's. That code runs with a rank's thread pointer: it uses no
// thread-local variable, so no errno, and makes no system call but by call.h.
//
//   home ---wait()---> waiting ---ring---> ready ---> running ---wait()---> waiting ...
//    ^                                                   |
//    +------------------- returning <--------------------+ system call, fault, signal
//   any ---the rank's process has ended---> gone
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>

namespace sennit::virt {

class Turns;
struct Worker;
struct RankFiber;

// The rank's auxiliary vector has the address of its RankFiber (kRankFiberEntry).

enum class Place : std::uint32_t { home, waiting, ready, running, returning, gone };

// A word that somebody changes, and then rings.
struct Watched {
    const std::atomic<std::uint32_t> *word = nullptr; // null: none
    std::uint32_t seen = 0;
    bool has_changed() const { return word && word->load() != seen; } // seq_cst, see turns.h
};

struct RankFiberCalls {
    std::uint64_t version;
    // The calling flow is self's, as in all that follow. Returns when one of the words differs from
    // what was seen and somebody has rung since, after about `limit_ns`, or for no reason. False:
    // it cannot leave its home here, and has not waited.
    bool (*wait)(RankFiber &self, Watched one, Watched other, std::int64_t limit_ns);
    // Others that can go on do so first: fibers; where there are none, whom the kernel has.
    void (*yield)(RankFiber &self);
    // Is the flow on a worker that has others to run?
    bool (*keeps_others)(const RankFiber &self);
    // A word that `other` waits on has changed. `self`: the caller, null where it is no fiber.
    void (*ring)(RankFiber &other, const RankFiber *self);
    // The main flow of the rank that has this process number; null: none of this address space.
    RankFiber *(*find)(const RankFiber &self, pid_t process);
    // The calling thread, of the same rank as `main` and of no fiber, gets one of its own until it
    // gives it back, before it ends. Null: there is no memory, or there are too many.
    RankFiber *(*enter)(RankFiber &main, pid_t thread);
    void (*leave)(RankFiber &self);
};
inline constexpr std::uint64_t kRankFiberVersion = 3;

struct RankFiber {
    // ---- the host's, written before the rank starts
    const RankFiberCalls *calls = nullptr;
    Turns *turns = nullptr;
    char *parking = nullptr; // high end of the home thread's stack while the fiber is away
    char *frame_room = nullptr;
    std::size_t frame_size = 0;
    std::atomic<pid_t> process{0};
    std::atomic<pid_t> thread{0};           // the home thread's number
    std::atomic<RankFiber *> main{nullptr}; // of the same rank, or itself; null: nobody uses it
    std::atomic<std::uint32_t> in_use{1};   // 0: whoever needs a fiber may take it

    // ---- where it left off: written by who runs it, read by who runs it next
    void *stack_pointer = nullptr;
    void *frame = nullptr; // not null: it was interrupted, and goes on by sigreturn from here
    std::uintptr_t thread_pointer = 0;
    std::atomic<Worker *> worker{nullptr}; // null: at home
    Watched watched[2] = {};               // what it waits on
    std::int64_t limit_ns = 0;
    std::int64_t deadline_ns = 0;           // 0: nobody has looked at the clock yet
    std::uint64_t signal_mask = 0;          // of the home thread, while it is away
    unsigned char alternate_stack[24] = {}; // likewise: a stack_t
    bool has_changed() const { return watched[0].has_changed() || watched[1].has_changed(); }

    // ---- the rank's, of its main flow
    std::atomic<std::uint32_t> hops{0}; // 1: MPI is there, so the rank's flows may leave home
    // The team thread that waits for the messages of all; who rings for the main flow takes it out,
    // and rings for it, too.
    std::atomic<RankFiber *> listener{nullptr};

    // ---- how others reach it
    alignas(64) std::atomic<Place> place{Place::home};
    std::atomic<std::uint32_t> rung{0}; // 1: it is in the crew's list of those that were rung for
    RankFiber *next_rung = nullptr;
    std::atomic<std::uint32_t> wanted_home{0}; // its home thread has a signal for it
    std::atomic<std::uint32_t> doomed{0};      // its process has ended
    // ---- the crew's, under its lock
    RankFiber *next_ready = nullptr;
};

} // namespace sennit::virt
