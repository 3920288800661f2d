// SPDX-License-Identifier: Apache-2.0
// Policy global. A rank that waits for a long message tells the sender how urgent it is: the
// priority of the task that receives (its own distance to a send). Long sends that wait for their
// turn leave in that order. docs/results/global.md has what it is worth.
//
// 8 bytes are told of each long message, on a communicator of our own: a duplicate of the world,
// made in MPI_Init on every rank. So the policy has to be the same on all ranks. It changes nothing
// but the order of sends: what comes late, or for a message that has left, is forgotten.
//
// Covered: blocking receives in tasks, from a known rank with a known tag, on MPI_COMM_WORLD.
#pragma once

#include "base/spin.h"
#include "mpi/call/bare.h"
#include "mpi/call/operation.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit::mpi {

// State: what was told of messages that are still to be sent, and words on their way, both under
// lock_; what comes in belongs to who polls.
//
// Capacity: kPlaces messages, as far as no two share a place (then the newer is kept); kOutgoing
// words on their way (when all are taken, what there is to tell is not told).
class Urgency {
  public:
    static constexpr std::int64_t kLongMessage = 8192; // elements

    // Between MPI_Init and MPI_Finalize under that policy.
    bool on() const { return __builtin_expect(on_.load(std::memory_order_acquire), 0); }
    void begin(); // collective
    void end();   // collective; nobody sends or receives any more

    // The calling task is about to be suspended in `operation`, which has begun; it has `priority`.
    void tell(const Operation &operation, int priority);

    // Take what other ranks have told; who polls. Calls heard(peer, tag, priority) for each.
    template <class Heard>
    void listen(Heard heard) {
        Word word;
        int peer = -1;
        while (take_next(peer, word))
            heard(peer, word.tag, word.priority);
    }

    // What was told of a message to `peer` before it was sent, once; -1: nothing.
    int told(const Operation &operation);
    // Remember what was told of a message that has not been sent yet.
    void remember(int peer, int tag, int priority);

    static constexpr int kMostPriority = 1023;
    // A key of sennit_send_order() with what the receiver says: the least goes first.
    static constexpr std::uint64_t key_of(std::uint64_t key, int priority) {
        const int behind = priority < 0 ? kMostPriority + 1 : kMostPriority - priority;
        return static_cast<std::uint64_t>(behind) << 32 | (key & 0xffff'ffff);
    }
    // Has the receiver said something?
    static constexpr bool is_wanted(std::uint64_t key) { return key >> 32 <= kMostPriority; }

  private:
    struct Word { // what is told
        int tag = 0, priority = 0;
    };
    struct Remembered {
        int sender = 0; // peer + 1; 0: nothing
        int tag = 0, priority = 0;
    };
    struct Outgoing {
        Word word;
        MPI_Request request{};
    };
    static constexpr unsigned kPlaceBits = 13;
    static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
    static constexpr int kOutgoing = 64;

    bool take_next(int &peer, Word &word);
    void receive_next();
    Remembered &place_of(int peer, int tag);

    std::atomic<bool> on_{false};
    SpinLock lock_;
    Remembered *remembered_ = nullptr; // kPlaces of them, while it is on
    Outgoing outgoing_[kOutgoing];
    int next_ = 0;        // of outgoing_
    int *told_ = nullptr; // how many words each rank was sent
    MPI_Comm comm_{};
    int ranks_ = 0;
    int heard_ = 0; // words that came
    Word incoming_;
    MPI_Request incoming_request_{};
};

} // namespace sennit::mpi
