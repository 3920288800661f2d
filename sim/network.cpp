// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <algorithm>

namespace sennit::sim {

std::uint32_t Messages::find_or_make(std::uint64_t key) {
    if (count_ * 2 >= table_.size())
        grow();
    const std::size_t mask = table_.size() - 1;
    std::size_t at = home_of(key);
    for (; table_[at] != kNone; at = (at + 1) & mask)
        if (pool_[table_[at]].key == key)
            return table_[at];
    std::uint32_t index;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(pool_.size());
        pool_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    pool_[index] = Message{};
    pool_[index].key = key;
    table_[at] = index;
    ++count_;
    return index;
}

void Messages::drop(std::uint32_t index) {
    const std::size_t mask = table_.size() - 1;
    std::size_t hole = home_of(pool_[index].key);
    while (table_[hole] != index)
        hole = (hole + 1) & mask;
    // Close the gap: whoever would not be found behind a hole moves into it.
    for (std::size_t at = (hole + 1) & mask; table_[at] != kNone; at = (at + 1) & mask) {
        const std::size_t home = home_of(pool_[table_[at]].key);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table_[hole] = table_[at];
            hole = at;
        }
    }
    table_[hole] = kNone;
    free_.push_back(index);
    --count_;
}

void Messages::grow() {
    std::vector<std::uint32_t> old(table_.size() * 2, kNone);
    std::swap(old, table_);
    for (const std::uint32_t index : old) {
        if (index == kNone)
            continue;
        std::size_t at = home_of(pool_[index].key);
        while (table_[at] != kNone)
            at = (at + 1) & (table_.size() - 1);
        table_[at] = index;
    }
}

Cards::Cards(const Machine &machine)
    : ranks_per_card_(static_cast<std::uint32_t>(machine.ranks_per_card)),
      cards_(machine.round_robin > 0 ? static_cast<std::uint32_t>(machine.card_count()) : 0),
      latency_(static_cast<Time>(machine.latency)), gap_(static_cast<Time>(machine.gap)),
      memory_latency_(static_cast<Time>(machine.memory_latency)), rate_(machine.bandwidth),
      rank_rate_(machine.rank_bandwidth), memory_rate_(machine.memory_bandwidth) {
    if (machine.unlimited)
        return;
    sends_.resize(machine.card_count());
    if (machine.receive_queue > 0)
        receives_.resize(machine.card_count());
    if (machine.rank_bandwidth > 0 && machine.rank_bandwidth < machine.bandwidth) {
        rank_sends_.resize(static_cast<std::size_t>(machine.rank_count()));
        rank_receives_.resize(rank_sends_.size());
    }
}

Time Cards::send(const Message &message, Time now, Time &sent) {
    const Time length = wire_time(message.bytes);
    Time start = now;
    sent = now + length;
    if (!rank_sends_.empty()) {
        const Time own = std::max(length, rank_time(message.bytes));
        sent = rank_sends_[message.source].pass(now, own);
        start = sent - own;
    }
    if (!sends_.empty()) {
        const Time passed = sends_[card_of(message.source)].pass(start, length);
        sent = std::max(sent, passed);
        start = passed - length;
    }
    return start + latency_;
}

Time Cards::receive(const Message &message, Time now) {
    const Time length = wire_time(message.bytes);
    Time there = now + length;
    if (!rank_receives_.empty())
        there =
            rank_receives_[message.target].pass(now, std::max(length, rank_time(message.bytes)));
    if (!receives_.empty())
        there = std::max(there, receives_[card_of(message.target)].pass(now, length));
    return there;
}

Time Cards::busiest() const {
    Time most = 0;
    for (const auto *gates : {&sends_, &receives_, &rank_sends_, &rank_receives_})
        for (const Gate &gate : *gates)
            most = std::max(most, gate.total);
    return most;
}

} // namespace sennit::sim
