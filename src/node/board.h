// SPDX-License-Identifier: Apache-2.0
// The board of a node: which processes of one user run on it, and how to wake them.
//
// One segment of shared memory a user and node (segment.h). Every process that takes part has a
// slot. The slot's `holder` is claimed by one compare-and-swap and tells who it is, so that a slot
// whose holder has died is found and freed by anybody (sweep). The word `job` is written last: who
// finds its job there may read the rest.
//
// There is no lock on the board. Who dies while it does something leaves a slot that is swept.
#pragma once

#include "node/bell.h"
#include "node/identity.h"
#include "node/segment.h"

#include <cstdint>

namespace sennit::node {

constexpr std::uint32_t kBoardVersion = 1;
constexpr int kMostSlots = 1024;
constexpr int kMostCores = 1024; // larger core numbers are not told

struct Cores {
    std::uint64_t words[kMostCores / 64] = {};
    void add(const Cores &other) {
        for (int i = 0; i < kMostCores / 64; ++i)
            words[i] |= other.words[i];
    }
    int count() const {
        int sum = 0;
        for (const std::uint64_t word : words)
            sum += __builtin_popcountll(word);
        return sum;
    }
};
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
    char program[48] = "";
};

struct alignas(64) Slot {
    std::atomic<Identity> holder; // 0: free
    // The same in all processes of a job. 0: the rest is not there yet; release, read by acquire.
    std::atomic<std::uint64_t> job;
    Member member;
    Bell bell; // in a line of its own: others look at it
};

class Board {
  public:
    constexpr Board() = default;
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    // Map the board at `path` (board_path). False: see `reason`. Once a process.
    bool open(const char *path, Reason &reason);
    // Take a slot; null: all are taken by living processes. `job` is not 0.
    Slot *join(std::uint64_t job, const Member &member);
    // Give it back. Nobody of this process uses the slot any more.
    void leave(Slot &slot);
    void close() { segment_.close(); }
    void abandon() { segment_.abandon(); } // in the child of fork()

    // Free the slots of processes that have died; returns how many.
    int sweep();
    // Slots that are taken: visit(number, slot). What changes meanwhile may be seen or not.
    template <class Visit>
    void each(Visit visit) {
        for (int i = 0; i < kMostSlots; ++i)
            if (slot(i).job.load(std::memory_order_acquire) != 0)
                visit(i, slot(i));
    }
    Slot &slot(int number);

  private:
    Segment segment_;
};

} // namespace sennit::node
