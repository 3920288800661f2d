// SPDX-License-Identifier: Apache-2.0
// A position-independent ELF file that is mapped once more, as the kernel does it in execve. Each
// rank gets images of its own. All ranks share the pages that nobody writes, by the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace sennit::loader {

// What the loader has to know of an ELF file before it maps the file. The file is never trusted. If
// something in it does not fit, `refusal` says so in a sentence.

struct ElfProgram {
    std::string refusal;     // empty: it can be a rank
    std::string interpreter; // empty: it needs none (static-PIE)
    Elf64_Ehdr header{};
    std::vector<Elf64_Phdr> segments;
    bool executable_stack = false; // it asks for one (nested functions of Fortran and GNU C)
};

// `path` is that of a program or of a dynamic linker.
ElfProgram read_program(const std::string &path);

// The same for a file of which read(to, size, offset) reads `size` bytes, or returns false. Tools
// that change a program (patchelf) may put the name of its interpreter at its end.
using FileReader = std::function<bool(void *to, std::size_t size, std::uint64_t offset)>;
ElfProgram read_program(const std::string &path, const FileReader &read);

// Memory that is unmapped with its owner.

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

struct Image {
    Mapping memory;
    std::string error;       // empty: it is mapped
    std::uintptr_t bias = 0; // what is added to the file's addresses
    std::uintptr_t entry = 0;
    std::uintptr_t segments = 0; // address of the table of segments
    unsigned segment_count = 0;
};

Image map_image(const std::string &path, const ElfProgram &program);

} // namespace sennit::loader
