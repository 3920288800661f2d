// SPDX-License-Identifier: Apache-2.0
// Growing arrays of plain things. They never throw: without memory they return false and stay as
// they were. What follows is the caller's choice: the runtime ends the program with one line, a
// writer at the program's exit gives up.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace sennit {

// Items are moved by realloc(): none may know its own address. There is no destructor, so an array
// may be a part of what lives until the process ends; release() gives the memory back. Memory for
// items that were taken out is kept: numbers of suspended tasks, for example, have peaks.
template <class T, std::size_t kFirstRoom = 64>
class Array {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    constexpr Array() = default;
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    bool push(T item) { // by value: it may be one of the array's own
        if (size_ == room_ && !reserve(room_ ? room_ * 2 : kFirstRoom)) [[unlikely]]
            return false;
        new (&items_[size_++]) T(item);
        return true;
    }
    // Room for so many items in all.
    [[nodiscard]] bool reserve(std::size_t room) {
        if (room <= room_)
            return true;
        // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
        auto *items = static_cast<T *>(std::realloc(static_cast<void *>(items_), room * sizeof(T)));
        if (!items)
            return false;
        items_ = items;
        room_ = room;
        return true;
    }
    // So many items in all, if there were fewer: the new ones are T{}.
    [[nodiscard]] bool extend(std::size_t size) {
        if (!reserve(size))
            return false;
        while (size_ < size)
            new (&items_[size_++]) T{};
        return true;
    }
    void pop() { --size_; }
    void shorten(std::size_t size) {
        if (size_ > size)
            size_ = size;
    }
    void clear() { size_ = 0; }
    void release() {
        std::free(static_cast<void *>(items_));
        items_ = nullptr;
        size_ = room_ = 0;
    }
    void swap(Array &other) noexcept {
        std::swap(items_, other.items_);
        std::swap(size_, other.size_);
        std::swap(room_, other.room_);
    }

    std::size_t size() const { return size_; }
    T *data() { return items_; }
    T *begin() { return items_; }
    T *end() { return items_ + size_; }
    const T *begin() const { return items_; }
    const T *end() const { return items_ + size_; }
    T &back() { return items_[size_ - 1]; }
    T &operator[](std::size_t i) { return items_[i]; }
    const T &operator[](std::size_t i) const { return items_[i]; }

  private:
    T *items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

// One that gives its memory back at its end.
template <class T, std::size_t kFirstRoom = 64>
class ScopedArray : public Array<T, kFirstRoom> {
  public:
    constexpr ScopedArray() = default;
    ~ScopedArray() { this->release(); }
    ScopedArray(const ScopedArray &) = delete;
    ScopedArray &operator=(const ScopedArray &) = delete;
};

} // namespace sennit
