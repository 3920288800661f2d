// SPDX-License-Identifier: Apache-2.0
// The containers of the exit writer. They never throw: when memory ends they return false and
// the writer gives up with a warning; the program may be exiting because of just that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace sennit::trace {

template <typename T>
class Array {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Array() = default;
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array() { std::free(static_cast<void *>(items_)); }

    bool push(const T &item) {
        if (size_ == room_ && !grow())
            return false;
        items_[size_++] = item;
        return true;
    }
    // `count` items of zero bytes; the array was empty.
    bool make(std::size_t count) {
        items_ = static_cast<T *>(std::calloc(count, sizeof(T)));
        size_ = room_ = items_ ? count : 0;
        return items_ || count == 0;
    }
    void pop() { --size_; }
    void clear() { size_ = 0; }
    void swap(Array &other) {
        std::swap(items_, other.items_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
    }

    std::size_t size() const { return size_; }
    T *begin() { return items_; }
    T *end() { return items_ + size_; }
    const T *begin() const { return items_; }
    const T *end() const { return items_ + size_; }
    T &operator[](std::size_t i) { return items_[i]; }
    const T &operator[](std::size_t i) const { return items_[i]; }

  private:
    bool grow() {
        const std::size_t room = room_ ? room_ * 2 : 64;
        auto *items = static_cast<T *>(std::realloc(static_cast<void *>(items_), room * sizeof(T)));
        if (!items)
            return false;
        items_ = items;
        room_ = room;
        return true;
    }
    T *items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

// From addresses to T; absent keys read as T{}. The key 0 is not allowed.
template <typename T>
class AddressMap {
    struct Entry {
        std::uint64_t key;
        T value;
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
    static std::size_t slot_of(const Array<Entry> &table, std::uint64_t key) {
        const std::size_t mask = table.size() - 1;
        std::size_t slot = (key * 0x9e3779b97f4a7c15u >> 32) & mask;
        while (table[slot].key != 0 && table[slot].key != key)
            slot = (slot + 1) & mask;
        return slot;
    }
    bool grow() {
        Array<Entry> larger;
        if (!larger.make(table_.size() ? table_.size() * 2 : 64))
            return false;
        for (const Entry &entry : table_)
            if (entry.key != 0)
                larger[slot_of(larger, entry.key)] = entry;
        table_.swap(larger);
        return true;
    }
    Array<Entry> table_;
    std::size_t used_ = 0;
};

} // namespace sennit::trace
