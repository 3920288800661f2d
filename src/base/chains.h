// SPDX-License-Identifier: Apache-2.0
// A hash table of chains, for items that must stay where they are, in any number. It asks for no
// memory. The caller serializes, makes the items and frees them. All zero is an empty table.
//
// An item tells its key() and where its chain goes on, Item *&chain(). No two have the same key.
#pragma once

#include "base/hash.h"

#include <cstddef>
#include <cstdint>

namespace sennit {

template <class Item, unsigned kBits>
class Chains {
  public:
    constexpr Chains() = default;
    Chains(const Chains &) = delete;
    Chains &operator=(const Chains &) = delete;

    // Null: there is none.
    Item *find(std::uint64_t key) { return *place_of(key); }
    // There was none with its key.
    void add(Item &item) {
        Item *&first = first_[hash_place(item.key(), kBits)];
        item.chain() = first;
        first = &item;
    }
    // The item with that key is no longer in the table; null: there was none.
    Item *take(std::uint64_t key) {
        Item **const at = place_of(key);
        Item *const taken = *at;
        if (taken)
            *at = taken->chain();
        return taken;
    }

  private:
    // The pointer that leads to the item; where there is none, the end of its chain.
    Item **place_of(std::uint64_t key) {
        Item **at = &first_[hash_place(key, kBits)];
        while (*at && (*at)->key() != key)
            at = &(*at)->chain();
        return at;
    }
    Item *first_[std::size_t{1} << kBits] = {};
};

} // namespace sennit
