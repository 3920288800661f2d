// SPDX-License-Identifier: Apache-2.0
// Rank fibers: how virtual ranks of one address space take turns on a few kernel threads (paper
// mpi-process-virtualization, section 3).
//
// The main flow of a rank - its stack, its registers, its thread pointer - is a fiber. So is each
// thread of its OpenMP teams. A fiber is at *home* on the kernel thread that it was started as.
// There it is like any other thread. When it waits for a message, or for its team, it leaves home:
// the home thread parks on a small stack of its own. When somebody has rung for the fiber, it goes
// on again, on one of the host's *carriers*: kernel threads, one for each core. A carrier goes from
// one fiber to the next without the kernel.
//
// All that a process is to the kernel - its number, descriptors, folder, limits, signals - stays
// with the home thread. Therefore the kernel lets no system call of a fiber through on a carrier
// (trap.h), but sends a signal instead. Then the fiber goes home, and the home thread makes the
// call, in the process that it is meant for. The call may block: it holds up nobody but this fiber.
// A fault is treated in the same way: it happens again at home, to the process whose fault it is. A
// signal for the rank wakes the home thread of the main flow. This thread calls the main flow home
// and takes the signal there. The home threads of team threads leave signals to it. So nothing of
// libc is wrapped, and there is no list of functions that could miss one.
//
// The host and the ranks share this header. Each has its own copy of all code. A rank finds the
// address of its own fiber in the auxiliary vector, and reaches all else through `calls`, which are
// functions of the host's copy. They run with a rank's thread pointer. So they use no thread-local
// variable, not even errno, and make system calls by call.h alone.
//
//   home ---wait()---> waiting ---ring---> ready ---> running ---wait()---> waiting ...
//    ^                                                   |
//    +------------------- returning <--------------------+ system call, fault, signal
//   any ---the rank's process has ended---> gone
//
// If a thread that is no fiber makes exec, the kernel ends the home threads, and gives the number
// of the process to the new program. Nobody may send that one a signal, and the fibers have to end.
// So each fiber knows a word of its home thread which the kernel clears.
#pragma once

#include "base/assert.h"
#include "base/rank.h"
#include "base/spin.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <unistd.h>

namespace sennit::virt {

// The processor time of a rank fiber, on all kernel threads that have run it. A kernel thread's own
// clock tells the time of what it runs, whoever that is: a carrier's has other fibers' time in it,
// and a home thread's stands still while its fiber is away.
//
// Only the thread that runs the fiber uses the clock. The thread that asks for the time first
// starts it, and names itself. From then on each thread reads its own clock when the fiber comes
// and when it leaves. When nobody is left who asks, the clock stands still, and a switch costs a
// comparison.

enum class ClockUse : std::uint32_t { account = 1, part = 2, task_time = 4, object = 8 };

class WorkClock {
  public:
    // ---- by the flow, which runs on the thread whose clock `now_ns` is
    std::int64_t start(ClockUse use, std::int64_t now_ns) {
        if (uses_ == 0)
            since_ns_ = now_ns;
        uses_ |= static_cast<std::uint32_t>(use);
        return worked_ns_ + (now_ns - since_ns_);
    }
    // Of two times that are asked for, nobody may take the difference if this was called in
    // between.
    void stop(ClockUse use) { uses_ &= ~static_cast<std::uint32_t>(use); }

    // ---- by the kernel thread that the flow comes to, or that it has left
    bool runs() const { return uses_ != 0; }
    void come(std::int64_t now_ns) { since_ns_ = now_ns; }
    void leave(std::int64_t now_ns) { worked_ns_ += now_ns - since_ns_; }

  private:
    std::uint32_t uses_ = 0;     // 0: it stands still
    std::int64_t worked_ns_ = 0; // until the fiber came
    std::int64_t since_ns_ = 0;  // when it came, by the clock of the kernel thread that it is on
};

class FiberRings;
struct Carrier;
struct Party;
struct RankFiber;

// The rank's auxiliary vector has the address of its RankFiber (kRankFiberEntry).

enum class Stage : std::uint32_t { home, waiting, ready, running, returning, gone };
constexpr unsigned after(Stage stage) {
    using enum Stage;
    switch (stage) {
    case home:
        return states(home, waiting, gone); // home: one that nobody uses is taken
    case waiting:
        return states(ready, gone);
    case ready:
        return states(running, returning, gone);
    case running:
        return states(waiting, ready, returning, gone);
    case returning:
    case gone: // another thread may have the fiber, at its home
        return states(home, gone);
    }
    return 0;
}

// A word that somebody changes, and then rings.
struct Watched {
    const Atomic<std::uint32_t> *word = nullptr; // null: none
    std::uint32_t seen = 0;
    bool has_changed() const { return word && word->load() != seen; } // seq_cst, see fiber_rings.h
};

struct RankFiberCalls {
    std::uint64_t version;
    // Here and below, `self` is the fiber of the calling flow.
    //
    // Wait until one of the words differs from what was seen and somebody has rung since, or until
    // about `limit_ns` have passed. It may also return for no reason. False: the fiber cannot leave
    // its home here, and has not waited.
    bool (*wait)(RankFiber &self, Watched one, Watched other, std::int64_t limit_ns);
    // Let other fibers that can go on do so first. If there are none, yield to other threads of the
    // kernel.
    void (*yield)(RankFiber &self);
    // Is the flow on a carrier, and does the carrier have other fibers to run?
    bool (*keeps_others)(const RankFiber &self);
    // A word that `other` waits on has changed. `self` is null if the caller is no fiber.
    void (*ring)(RankFiber &other, const RankFiber *self);
    // Words have changed that fibers of another host's address space wait on.
    void (*ring_abroad)(pid_t host);
    // The main flow of the rank with this process number. Null: this address space has no such
    // rank.
    RankFiber *(*find)(const RankFiber &self, pid_t process);
    // Give the calling thread a fiber of its own. It is of the same rank as `main`, and has none
    // yet. It gives the fiber back by leave() before it ends. Null: there is no memory, or there
    // are too many fibers.
    RankFiber *(*enter)(RankFiber &main, pid_t thread);
    void (*leave)(RankFiber &self);
    // The processor time of the flow. From the first call on, until the clock is told that it is no
    // longer used for this, differences are right.
    std::int64_t (*work_ns)(RankFiber &self, ClockUse use);
};
inline constexpr std::uint64_t kRankFiberVersion = 11;

struct RankFiber {
    // ---- written by the host before the rank starts
    const RankFiberCalls *calls = nullptr;
    FiberRings *rings = nullptr;
    char *parking = nullptr; // high end of the home thread's stack while the fiber is away
    char *frame_room = nullptr;
    std::size_t frame_size = 0;
    std::int32_t number = 0; // in the table of fibers
    bool is_pooled = false;  // carriers take cores of the pool's board, where the job is known
    std::atomic<pid_t> process{0};          // a main flow has it: process_number()
    std::atomic<pid_t> thread{0};           // the home thread's number
    std::atomic<RankFiber *> main{nullptr}; // of the same rank, or itself; null: nobody uses it
    std::atomic<std::uint32_t> in_use{1};   // 0: whoever needs a fiber may take it

    // ---- where it left off: written by the thread that runs it, read by the one that runs it next
    void *stack_pointer = nullptr;
    void *frame = nullptr; // not null: it was interrupted, and goes on by sigreturn from this frame
    std::uintptr_t thread_pointer = 0;
    WorkClock clock;
    std::atomic<Carrier *> carrier{nullptr}; // null: at home
    Watched watched[2] = {};                 // what it waits on
    std::int64_t limit_ns = 0;
    std::int64_t deadline_ns = 0;           // 0: nobody has looked at the clock yet
    std::uint64_t signal_mask = 0;          // of the home thread, while it is away
    unsigned char alternate_stack[24] = {}; // likewise: a stack_t
    // The kernel clears this word when the home thread dies: null: not known. The rank's memory;
    // while the fiber is away, the home thread does not give it back.
    const std::atomic<pid_t> *home_thread = nullptr;
    bool has_asked = false; // the kernel, for this word
    bool has_changed() const { return watched[0].has_changed() || watched[1].has_changed(); }

    // ---- written by the home thread, for tests
    std::atomic<std::uint32_t> homecomings{0}; // how often the fiber has come home

    // ---- written by the rank, for its main flow
    // 1: the rank's flows may leave home. MPI_Init says so; without MPI, Sennit's OpenMP.
    std::atomic<std::uint32_t> hops{0};
    // The team thread that waits for the messages of all. A thread that rings for the main flow
    // takes the listener out, and rings for it, too.
    std::atomic<RankFiber *> listener{nullptr};
    // The number that its job has on the pool's board. All ranks of the job are there. 0: the
    // carriers need no core for it.
    std::atomic<std::uint64_t> job{0};

    // ---- how others reach it
    alignas(64) Atomic<Stage> stage{Stage::home};
    Atomic<std::uint32_t> wanted_home{0}; // its home thread has a signal for it
    Atomic<std::uint32_t> doomed{0};      // its process has ended
    // ---- used by the crew, under its lock
    RankFiber *next_ready = nullptr;
    Party *party = nullptr; // null: not known yet, or of none
    // Carriers that tell the home thread, without the lock, that it has the fiber again. Meanwhile
    // the rank does not end.
    Atomic<std::uint32_t> senders{0};

    // Its process has ended, or has become another program by another thread's exec. Only for a
    // fiber that is away from home, under the crew's lock.
    bool has_lost_home() const { return home_thread && home_thread->load() == 0; }
    // The number of the rank's process. 0: the host has not told it yet, or nobody uses the fiber.
    pid_t process_number() const {
        const RankFiber *const of_rank = main.load(std::memory_order_relaxed);
        return of_rank ? of_rank->process.load(std::memory_order_relaxed) : 0;
    }
    // Go on to another stage. Called by the one that has the fiber now: the fiber itself, its
    // carrier, or the crew under its lock.
    void go(Stage to, std::memory_order order = std::memory_order_seq_cst) {
        SENNIT_ASSERT((after(stage.load(std::memory_order_relaxed)) & states(to)) != 0);
        stage.store(to, order);
    }
};

// The rank fiber of this process, for the rank's own code.

// Null: this process is no rank fiber, or its host is of another version. A forked child finds its
// parent's fiber.
inline RankFiber *own_fiber() {
    auto *const fiber = reinterpret_cast<RankFiber *>(getauxval(kRankFiberEntry));
    return fiber && fiber->calls->version == kRankFiberVersion ? fiber : nullptr;
}

// The same, but null in a forked child.
inline RankFiber *main_flow() {
    RankFiber *const own = own_fiber();
    if (!own)
        return nullptr;
    const pid_t process = own->process.load(); // 0: the host has not told it yet
    return process == 0 || process == getpid() ? own : nullptr;
}

} // namespace sennit::virt
