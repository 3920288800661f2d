// SPDX-License-Identifier: Apache-2.0
// Policy global. A rank that waits for a long message tells the sender how urgent the message is:
// the priority of the task that receives (its own distance to a send). Long sends that wait for
// their turn leave in that order. docs/performance.md has what it is worth.
//
// For each long message, 8 bytes are told, on a communicator of our own. It is a duplicate of
// MPI_COMM_WORLD, made in MPI_Init on every rank. So the policy has to be the same on all ranks.
// The policy changes nothing but the order of sends. A word that comes late, or is about a message
// that has left, is forgotten.
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

// State: what was told of messages that are not sent yet, and words on their way. Incoming words
// belong to the thread that polls.
//
// Capacity: kPlaces messages; if two have the same place, the newer one is kept. kOutgoing words on
// their way; if all are taken, a new word is not told.
class Urgency {
  public:
    static constexpr std::int64_t kLongMessage = 8192; // elements

    // True between MPI_Init and MPI_Finalize, under this policy.
    bool on() const { return __builtin_expect(on_.load(std::memory_order_acquire), 0); }
    void begin(); // collective
    void end();   // collective; the program sends and receives no more

    // Tell the sender. The calling task has this priority, and is about to be suspended in
    // `operation`, which has begun.
    void tell(const Operation &operation, int priority);

    // Take what other ranks have told, and call heard(peer, tag, priority) for each word. Only the
    // thread that polls calls it.
    template <class Heard>
    void listen(Heard heard) {
        Word word;
        int peer = -1;
        while (take_next(peer, word))
            heard(peer, word.tag, word.priority);
    }

    // The priority that was told of a message before it was sent, or -1. Each is returned once.
    int told(const Operation &operation);
    // Remember what was told of a message that has not been sent yet.
    void remember(int peer, int tag, int priority);

    static constexpr int kMostPriority = 1023;
    // Combine a key of sennit_send_order() with what the receiver said. The least key goes first.
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
    Remembered &place_of(int peer, int tag) SENNIT_REQUIRES(lock_);

    std::atomic<bool> on_{false};
    SpinLock lock_;
    Remembered *remembered_ SENNIT_GUARDED_BY(lock_) = nullptr; // kPlaces of them, while it is on
    Outgoing outgoing_[kOutgoing] SENNIT_GUARDED_BY(lock_);
    int next_ SENNIT_GUARDED_BY(lock_) = 0;        // of outgoing_
    int *told_ SENNIT_GUARDED_BY(lock_) = nullptr; // how many words were sent to each rank
    MPI_Comm comm_{};
    int ranks_ = 0;
    int heard_ = 0; // words that came
    Word incoming_;
    MPI_Request incoming_request_{};
};

} // namespace sennit::mpi
