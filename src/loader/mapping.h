// SPDX-License-Identifier: Apache-2.0
// Memory that is unmapped with its owner.
#pragma once

#include <cstddef>
#include <sys/mman.h>
#include <utility>

namespace sennit::loader {

inline constexpr std::size_t kPage = 4096;

constexpr std::size_t page_down(std::size_t value) {
    return value & ~(kPage - 1);
}
constexpr std::size_t page_up(std::size_t value) {
    return page_down(value + kPage - 1);
}

class Mapping {
  public:
    Mapping() = default;
    // If there is no room, the mapping is false in a condition.
    Mapping(std::size_t size, int protection, int flags)
        : memory_(mmap(nullptr, size, protection, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
          size_(size) {
        if (memory_ == MAP_FAILED)
            memory_ = nullptr;
    }
    Mapping(Mapping &&other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_) {}
    Mapping &operator=(Mapping &&other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Mapping() {
        if (memory_)
            munmap(memory_, size_);
    }

    explicit operator bool() const { return memory_ != nullptr; }
    char *low() const { return static_cast<char *>(memory_); }
    char *high() const { return low() + size_; }
    void release() { memory_ = nullptr; } // the memory stays mapped

  private:
    void *memory_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace sennit::loader
