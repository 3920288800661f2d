// SPDX-License-Identifier: Apache-2.0
// What any thread may give to one, linked through the items' own `next`, without a lock.
//
// Givers push on a stack by compare-and-swap. The taker takes all of it by one exchange, and turns
// it round: so what was given first comes first. No item is ever taken alone, so a giver that has
// read an old top links to what is there again, or fails: it does no harm if an item comes back
// (no ABA). `release` of a push pairs with `acquire` of the exchange: the taker sees what the giver
// wrote, and the links of all that were pushed before.
#pragma once

#include "base/spin.h"

#include <atomic>

namespace sennit {

template <class Item>
class Inbox {
  public:
    constexpr Inbox() = default;
    Inbox(const Inbox &) = delete;
    Inbox &operator=(const Inbox &) = delete;

    // Any thread, also in a signal handler. The item is the taker's from then on.
    void push(Item &item) {
        Item *top = newest_.load(std::memory_order_relaxed);
        do
            item.next = top;
        while (!newest_.compare_exchange_weak(top, &item, std::memory_order_release,
                                              std::memory_order_relaxed));
    }

    // A hint. Taking makes others wait for the line, so takers that find little ask first.
    bool any() const { return newest_.load(std::memory_order_relaxed) != nullptr; }

    // One thread at a time: all that was pushed, linked, the oldest first; null: nothing.
    struct Taken {
        Item *oldest;
        Item *newest;
    };
    Taken take_all() {
        Item *const newest = newest_.exchange(nullptr, std::memory_order_acquire);
        Item *oldest = nullptr;
        for (Item *at = newest; at;) {
            Item *const older = at->next;
            at->next = oldest;
            oldest = at;
            at = older;
        }
        return {oldest, newest};
    }

  private:
    Atomic<Item *> newest_{nullptr};
};

} // namespace sennit
