// SPDX-License-Identifier: Apache-2.0
// A set of addresses, as ranges that neither touch nor overlap, in order. It has no lock and no
// heap: its memory comes from the kernel, since allocators ask for memory while it is in use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sennit::loader::inside {

struct Range {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0; // the first address behind it
    bool empty() const { return low >= high; }
    std::size_t size() const { return high - low; }
};

class AddressSet {
  public:
    AddressSet() = default;
    AddressSet(const AddressSet &) = delete;
    AddressSet &operator=(const AddressSet &) = delete;

    // Without memory for it the range stays out: the set then knows less than it could.
    void add(Range range);
    // Without memory for it more goes out than was asked for: never less.
    void remove(Range range);
    bool contains(Range range) const;
    void clear(); // gives its memory back
    const Range *begin() const { return ranges_; }
    const Range *end() const { return ranges_ + count_; }
    // The first part of `range` that is not in the set. Empty: all of it is.
    Range first_gap(Range range) const;
    // The first part of `range` that is in the set. Empty: none of it is.
    Range first_part(Range range) const;

  private:
    // The first range that ends at `address` or above it.
    std::size_t find(std::uintptr_t address) const;
    bool has_room();
    void replace(std::size_t first, std::size_t last, const Range *by, std::size_t count);

    Range *ranges_ = nullptr;
    std::size_t count_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace sennit::loader::inside
