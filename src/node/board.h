// SPDX-License-Identifier: Apache-2.0
// The board of a node: which processes of one user run on it, and how to wake them.
//
// For each user and node there is one segment of shared memory (segment.h). Every process that
// takes part has a slot in it. One compare-and-swap claims a slot and writes its `holder`, which
// names the process. So anybody can find a slot whose holder has died, and free it (sweep). A
// process that runs another program after exec() has died as a holder: its identity is another one.
// The word `job` is written last: a process that finds its own job there may read the rest.
//
// The board also has
// - the table of cores (core_table.h);
// - the settings of a pool: a board that has a name and is kept open, so that programs started at
//   any time meet on it;
// - some places where the ranks of a job meet (assembly.h).
//
// There is no lock on the board. A process that dies in the middle of a change leaves a slot that
// the next sweep frees.
#pragma once

#include "base/spent_page.h"
#include "base/spin.h"
#include "node/assembly.h"
#include "node/core_table.h"
#include "node/identity.h"
#include "node/segment.h"
#include "wait/bell.h"

#include <atomic>
#include <cstdint>
#include <ctime>

namespace sennit::node {

// Which process of a job ends it, if several find at the same time that it cannot go on. If two do
// that at once, a launcher may take long to end, or for ever (MPICH's).
//
// The first one to claim it ends the job. It may die before, or may not succeed. So a claim counts
// for kPatience only. Of those that have waited for so long, one makes the next claim.
//
// The word is the job's number, plus the number of claims before. So nobody has to clear it for the
// next job: that one has another number.

class Ending {
  public:
    static constexpr timespec kPatience{5, 0};

    // Returns when the caller has to end the job: at once, or never, as a rule.
    void claim(std::uint64_t job, const timespec &patience = kPatience);

  private:
    Atomic<std::uint64_t> word_;
};

// Ranks that sleep until another rank has called MPI.
//
// A send that is not over needs the receiver: it has to take the message. It does so in some call
// of MPI, and does not know that the sender sleeps, or that the send is a synchronous one. So the
// sender says in its own slot whom it asks, and marks the slot of that rank. A rank that leaves MPI
// looks at its mark, and rings those that ask it. A rank that waits for a collective call, or for
// several requests, may ask more than one.
//
//   the sender                        the receiver
//   1. arms its bell                  1. takes the message, in MPI
//   2. ask(), mark(), fence           2. fence
//   3. tests once more, sleeps        3. take_mark(): rings those that ask it
//
// At least one of the two sees the other (wait/bell.h). The bell is armed before the mark, or the
// receiver might take the mark, which it does for any message, and ring in vain. Of several threads
// of a rank that ask, the last one counts: the others sleep until their timers end.

class alignas(64) Asking {
  public:
    static constexpr std::int32_t kNobody = 0;
    static constexpr std::int32_t kAnybody = -1; // that is marked

    // The slot of the caller's own rank: it asks the one in that slot.
    void ask(int slot) { asks_.store(slot + 1, std::memory_order_relaxed); }
    void ask_anybody() { asks_.store(kAnybody, std::memory_order_relaxed); }
    void ask_nobody() { asks_.store(kNobody, std::memory_order_relaxed); }
    bool asks(int slot) const {
        const std::int32_t asked = asks_.load(std::memory_order_relaxed);
        return asked == slot + 1 || asked == kAnybody;
    }

    // The slot of the one that is asked. The release pairs with take_mark(): who takes the mark
    // sees who asks.
    void mark() { marked_.store(1, std::memory_order_release); }
    bool take_mark() {
        return marked_.load(std::memory_order_relaxed) != 0 &&
               marked_.exchange(0, std::memory_order_acquire) != 0;
    }

  private:
    Atomic<std::int32_t> asks_; // slot + 1
    Atomic<std::uint32_t> marked_;
};

// By core, how long the threads computed there that have waited in MPI since. So a thread that has
// yielded can tell whether it made way for another rank of its node, whose work it waits for, or
// for a program that has nothing to do with it.

// Zeroed memory. Any thread; all relaxed: these are hints for those who decide how to wait.
class CoreWork {
  public:
    // On this core, which may be any number: those that are too large are left out.
    void add(int core, std::int64_t ns) {
        if (has(core))
            cells_[core].ns.fetch_add(ns, std::memory_order_relaxed);
    }
    std::int64_t of(int core) const {
        return has(core) ? cells_[core].ns.load(std::memory_order_relaxed) : 0;
    }

  private:
    static bool has(int core) { return core >= 0 && core < kMostCores; }
    struct alignas(64) Cell {
        Atomic<std::int64_t> ns;
    };
    Cell cells_[kMostCores];
};

// The cores that the calling thread may run on.
Cores allowed_cores();

// The calling process's scheduling group. The system divides the processors among such groups first
// (sched(7)), so a yield reaches only processes of the same group. 0: there are no groups.
std::uint64_t scheduling_group();

// What a process tells of itself.
struct ProcessInfo {
    std::int32_t rank = -1;
    std::int32_t threads = 1;
    Cores cores;
    std::uint64_t group = 0; // scheduling_group()
    double share = 1;        // of its program, relative to other programs'
    std::int32_t priority = 0;
    bool leftover = false; // it gets only what others leave
    char program[48] = "";
};

struct alignas(64) BoardSlot {
    Atomic<Identity> holder; // 0: free
    // The job's number, the same in all its processes. 0: the rest is not written yet. Stored by
    // release, read by acquire.
    Atomic<std::uint64_t> job;
    // The program that the process ran when it took the slot. After exec() it may have the same
    // identity (identity.h).
    std::uint64_t image;
    ProcessInfo member;
    Ending ending;   // of the job whose lowest rank on this node has the slot, or had it
    wait::Bell bell; // in a line of its own: others look at it
    Asking asking;
    CoreUse cores;
    SpentPage spent; // how its threads spend their time, if that is counted
};

// What the calling process tells of itself, without its rank and its threads.
struct Membership;
ProcessInfo own_member(const Membership &membership);
// A number that no other job has on any board of its ranks' nodes.
std::uint64_t new_job();

// The settings of a pool. The process that starts the pool writes them before it sets `named`. On
// other boards all of this is zero.
struct PoolSettings {
    Atomic<std::uint32_t> named; // release, read by acquire
    Atomic<std::uint32_t> stops; // nobody joins any more
    char name[32];
    char policy[16]; // decide/cores/policy.h
    Cores cores;     // the cores that the pool divides; none: those of its members
};

class Board {
  public:
    constexpr Board() = default;
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    // Map the board at `path` (board_path). False: see `reason`. Called once in a process.
    bool open(const char *path, Reason &reason);
    // Use the memory that another Board of this process has mapped.
    void borrow(void *memory) { segment_.borrow(memory); }
    void *memory() const { return segment_.memory(); }
    // Take a slot. Null: living processes have all of them. `job` is not 0.
    BoardSlot *join(std::uint64_t job, const ProcessInfo &member);
    // Give the slot back. No thread of this process uses it any more.
    void leave(BoardSlot &slot);
    void close() { segment_.close(); }
    void abandon(); // in the child of fork()

    // Free the slots of processes that have died, or run another program, and their cores. Returns
    // the number of slots.
    int sweep();
    // Call visit(number, slot) for each slot that is taken. It may or may not see a change that
    // happens meanwhile.
    template <class Visit>
    void each(Visit visit) {
        for (int i = 0, end = slots_end(); i < end; ++i)
            if (slot(i).job.load(std::memory_order_acquire) != 0)
                visit(i, slot(i));
    }
    BoardSlot &slot(int number);
    int number_of(const BoardSlot &slot);
    int slots_end(); // all slots that were ever taken are below it
    CoreTable &core_table();
    CoreWork &core_work();
    PoolSettings &pool();
    Memory &policy_memory();

    // Do header, slots and cores fit each other? It holds at any moment, whatever other processes
    // are doing, for they take slots in this order: slots_end, job, cores.
    bool is_sound();

    // Claim a place where the ranks of `job` meet. Null: living jobs have all of them. The calling
    // process has a slot. It gives the place back by Assembly::release().
    Assembly *claim_assembly(std::uint64_t job);
    Assembly &assembly(int number);
    int number_of(const Assembly &assembly);
    // What the process in this slot brings to calls: a lane for each assembly that it is a member
    // of. Lane 0 is that of all ranks of its job.
    static constexpr int kLanes = 4;
    Assembly::Part &part(int slot, int lane = 0);

  private:
    void clear(BoardSlot &slot);
    bool take_over(BoardSlot &slot, Identity dead);
    int sweep_inside() SENNIT_REQUIRES(claims_);
    void forget_past() SENNIT_REQUIRES(claims_);

    static SpinLock claims_; // of this process: its holder may take slots, and sweep them
    bool is_there(std::uint64_t job);
    Segment segment_;
};

} // namespace sennit::node
