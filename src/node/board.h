// SPDX-License-Identifier: Apache-2.0
// The board of a node: which processes of one user run on it, and how to wake them.
//
// One segment of shared memory a user and node (segment.h). Every process that takes part has a
// slot. The slot's `holder` is claimed by one compare-and-swap and tells who it is, so that a slot
// whose holder has died is found and freed by anybody (sweep). The word `job` is written last: who
// finds its job there may read the rest.
//
// Beside the slots it has the table of cores (core_table.h), and the settings of a pool: a board
// that somebody has named and keeps open, so that programs started at any time meet on it.
//
// It also has some places where the ranks of a job meet (assembly.h).
//
// There is no lock on the board. Who dies while it does something leaves a slot that is swept.
#pragma once

#include "node/assembly.h"
#include "node/bell.h"
#include "node/core_table.h"
#include "node/identity.h"
#include "node/segment.h"

#include <cstdint>

namespace sennit::node {

// Those that the calling thread may run on.
Cores allowed_cores();

// The group of processes among which the system first divides the processors, sched(7): a yield
// reaches nobody else. 0: there are no such groups.
std::uint64_t scheduling_group();

// What a process tells of itself.
struct Member {
    std::int32_t rank = -1;
    std::int32_t threads = 1;
    Cores cores;
    std::uint64_t group = 0; // scheduling_group()
    double share = 1;        // of its program, relative to others'
    std::int32_t priority = 0;
    bool leftover = false; // it gets only what others leave
    char program[48] = "";
};

struct alignas(64) Slot {
    std::atomic<Identity> holder; // 0: free
    // The same in all processes of a job. 0: the rest is not there yet; release, read by acquire.
    std::atomic<std::uint64_t> job;
    // The program that the process ran when it took the slot: exec() keeps the process's identity.
    std::uint64_t image;
    Member member;
    Bell bell; // in a line of its own: others look at it
    CoreUse cores;
};

// What the calling process tells, but for its rank and its threads.
struct Membership;
Member own_member(const Membership &membership);
// A number that no other job has on any board of its ranks' nodes.
std::uint64_t new_job();

// Of a pool. Who starts it writes it, before `named` is set; zero on other boards.
struct PoolSettings {
    std::atomic<std::uint32_t> named; // release, read by acquire
    std::atomic<std::uint32_t> stops; // nobody joins any more
    char name[32];
    char policy[16]; // node/policy/policy.h
    Cores cores;     // that it divides; none: those of its members
};

class Board {
  public:
    constexpr Board() = default;
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    // Map the board at `path` (board_path). False: see `reason`. Once a process.
    bool open(const char *path, Reason &reason);
    // The board that another one of this process has open, or had.
    void borrow(void *memory) { segment_.borrow(memory); }
    void *memory() const { return segment_.memory(); }
    // Take a slot; null: all are taken by living processes. `job` is not 0.
    Slot *join(std::uint64_t job, const Member &member);
    // Give it back. Nobody of this process uses the slot any more.
    void leave(Slot &slot);
    void close() { segment_.close(); }
    void abandon(); // in the child of fork()

    // Free the slots of processes that have died, and their cores; returns how many slots.
    int sweep();
    // Slots that are taken: visit(number, slot). What changes meanwhile may be seen or not.
    template <class Visit>
    void each(Visit visit) {
        for (int i = 0, end = slots_end(); i < end; ++i)
            if (slot(i).job.load(std::memory_order_acquire) != 0)
                visit(i, slot(i));
    }
    Slot &slot(int number);
    int number_of(const Slot &slot);
    int slots_end(); // all slots that were ever taken are below it
    CoreTable &core_table();
    PoolSettings &pool();
    Memory &policy_memory();

    // A place for a job to meet at, for its process that asks; null: all are taken by jobs that
    // live. The process has a slot. It gives the place back by Assembly::release().
    Assembly *claim_assembly(std::uint64_t job);
    Assembly &assembly(int number);
    int number_of(const Assembly &assembly);

  private:
    void clear(Slot &slot);
    int sweep_inside();
    void forget_past();
    bool is_there(std::uint64_t job);
    Segment segment_;
};

} // namespace sennit::node
