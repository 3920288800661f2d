// SPDX-License-Identifier: Apache-2.0
// LogGP with serialization at each card, in both directions. A card sends one message at a time, in
// the order in which they are handed to it. At the receiver a message takes its place when its head
// arrives, not when it is posted: a message that is still waiting at a busy sender must not hold up
// others there (false head-of-line blocking).
//
// A rank alone may not reach its card's bandwidth (`rank-bandwidth`): then it is a queue of its
// own, and the card interleaves the messages of its ranks.
//
// Ranks of one machine exchange messages through memory: no card, no queue.
//
// A message longer than `eager` waits for its receive: sender asks (L), receiver allows (L), data.
// The switch between the cards is perfect: any number of messages at full bandwidth.
#pragma once

#include "machine.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sennit::sim {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Message {
    // A part of its own that waits for one of the ends, see Part.
    enum class Wait : std::uint8_t { none, expected, here };
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
    Time sent_at = -1;   // by the program; -1: not yet
    Time posted_at = -1; // its receive
    std::uint32_t source = 0, target = 0;
    std::uint32_t send_task = kNone; // waits, to be told
    std::uint32_t receive_task = kNone;
    bool delivered = false;
    bool send_over = false;
    Wait send_wait = Wait::none, receive_wait = Wait::none;

    bool receive_over() const { return delivered && posted_at >= 0; }
    // Both ends, and nobody will ask.
    bool over() const {
        return send_over && receive_over() && send_wait != Wait::expected &&
               receive_wait != Wait::expected;
    }
};

// Messages of which one end is known and not both are done, by key.
class Messages {
  public:
    Messages() : table_(1024, kNone) {}

    Message &operator[](std::uint32_t index) { return pool_[index]; }
    std::uint32_t find_or_make(std::uint64_t key);
    void drop(std::uint32_t index);
    std::uint64_t open() const { return count_; }
    template <class Visitor>
    void each(Visitor visit) const {
        for (const std::uint32_t index : table_)
            if (index != kNone)
                visit(pool_[index]);
    }

  private:
    std::size_t home_of(std::uint64_t key) const {
        return key * 0x9E3779B97F4A7C15ull >> 20 & (table_.size() - 1);
    }
    void grow();

    std::vector<std::uint32_t> table_; // open addressing, linear
    std::vector<Message> pool_;
    std::vector<std::uint32_t> free_;
    std::uint64_t count_ = 0;
};

class Cards {
  public:
    explicit Cards(const Machine &machine);

    bool through_memory(std::uint32_t source, std::uint32_t target) const {
        return card_of(source) == card_of(target);
    }
    Time memory_time(std::uint64_t bytes) const {
        return memory_latency_ + static_cast<Time>(static_cast<double>(bytes) / memory_rate_);
    }
    // Handed to the sender's card at `now`: when its head is at the receiver; `sent`: when the last
    // byte has left.
    Time send(const Message &message, Time now, Time &sent);
    // Its head arrives at `now`: when the last byte is there.
    Time receive(const Message &message, Time now);
    Time latency() const { return latency_; }
    // How long the card that sends or receives most is at it: no schedule is shorter.
    Time busiest() const;

    std::uint32_t card_of(std::uint32_t rank) const {
        return cards_ > 0 ? rank % cards_ : rank / ranks_per_card_;
    }

  private:
    // Whatever messages have to pass one after the other, in one direction.
    struct Gate {
        Time until = 0; // it is busy
        Time total = 0;
        // A message that is there at `now` and takes so long: when it has passed.
        Time pass(Time now, Time length) {
            until = std::max(now, until) + length;
            total += length;
            return until;
        }
    };

    Time wire_time(std::uint64_t bytes) const {
        return gap_ + static_cast<Time>(static_cast<double>(bytes) / rate_);
    }
    Time rank_time(std::uint64_t bytes) const {
        return static_cast<Time>(static_cast<double>(bytes) / rank_rate_);
    }

    std::uint32_t ranks_per_card_;
    std::uint32_t cards_; // over which ranks go round; 0: they do not
    Time latency_, gap_, memory_latency_;
    double rate_, rank_rate_, memory_rate_;        // bytes a nanosecond
    std::vector<Gate> sends_, receives_;           // of cards; empty: any number at a time
    std::vector<Gate> rank_sends_, rank_receives_; // empty: as fast as the card
};

} // namespace sennit::sim
