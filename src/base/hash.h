// SPDX-License-Identifier: Apache-2.0
// Hashing of words: addresses, handles, small numbers. By multiplication (Knuth, volume 3, 6.4):
// every bit of a word has its say in the product's high bits, so places are numbered by those.
#pragma once

#include "base/array.h"

#include <cstddef>
#include <cstdint>

namespace sennit {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15; // 2^64 by the golden ratio, odd

// A place among 2^bits.
constexpr std::size_t hash_place(std::uint64_t word, unsigned bits) {
    return static_cast<std::size_t>((word * kGolden) >> (64 - bits));
}
inline std::size_t hash_place(const void *address, unsigned bits) {
    return hash_place(reinterpret_cast<std::uintptr_t>(address), bits);
}

// Of several words, one after the other, beginning with 0 or the first word. Their number counts,
// too, where none of them is 0.
constexpr std::uint64_t hash_after(std::uint64_t before, std::uint64_t word) {
    return (before + word) * kGolden;
}

// From words to T, by open addressing with linear probing; at most half of the places are taken.
// Absent keys read as T{}. The key 0 is not allowed. set() is false where memory ends.
template <class T>
class WordMap {
    struct Entry {
        std::uint64_t key = 0;
        T value{};
    };

  public:
    T get(std::uint64_t key) const {
        return table_.size() == 0 ? T{} : table_[slot_of(table_, key)].value;
    }
    bool set(std::uint64_t key, const T &value) {
        if (used_ * 2 >= table_.size() && !grow())
            return false;
        Entry &entry = table_[slot_of(table_, key)];
        used_ += entry.key == 0;
        entry = {key, value};
        return true;
    }

  private:
    using Table = ScopedArray<Entry>;
    static std::size_t slot_of(const Table &table, std::uint64_t key) {
        const std::size_t mask = table.size() - 1;
        std::size_t slot = hash_place(key, 32) & mask;
        while (table[slot].key != 0 && table[slot].key != key)
            slot = (slot + 1) & mask;
        return slot;
    }
    bool grow() {
        Table larger;
        if (!larger.extend(table_.size() ? table_.size() * 2 : 64))
            return false;
        for (const Entry &entry : table_)
            if (entry.key != 0)
                larger[slot_of(larger, entry.key)] = entry;
        table_.swap(larger);
        return true;
    }
    Table table_;
    std::size_t used_ = 0;
};

} // namespace sennit
