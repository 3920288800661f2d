// SPDX-License-Identifier: Apache-2.0
// A growing array of plain things. Its memory is kept: the number of suspended tasks has peaks.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace sennit::mpi {

template <class T>
class Array {
  public:
    int size() const { return size_; }
    T *data() { return items_; }
    T &operator[](int i) { return items_[i]; }
    const T &operator[](int i) const { return items_[i]; }
    void push(T item) {
        if (size_ == capacity_) {
            capacity_ = capacity_ ? 2 * capacity_ : 256;
            void *grown =
                std::realloc(items_, static_cast<std::size_t>(capacity_) * sizeof *items_);
            if (!grown) {
                std::fprintf(stderr, "sennit: no memory for %d pending MPI operations\n",
                             capacity_);
                std::abort();
            }
            items_ = static_cast<T *>(grown);
        }
        items_[size_++] = item;
    }
    void pop() { --size_; }

  private:
    T *items_ = nullptr;
    int size_ = 0;
    int capacity_ = 0;
};

} // namespace sennit::mpi
