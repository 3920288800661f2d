// SPDX-License-Identifier: Apache-2.0
// Reading memory that may go away meanwhile. The program that is looked at may go on at any moment;
// then its tasks, frames and stacks come and go. We read through the kernel, which refuses instead
// of faulting.
#pragma once

#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <type_traits>
#include <unistd.h>

namespace sennit::watch {

class Memory {
  public:
    Memory() : file_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
    ~Memory() {
        if (file_ >= 0)
            close(file_);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;

    // How many of the `size` bytes could be read.
    std::size_t read(const void *from, void *into, std::size_t size) const {
        const ssize_t got = pread(file_, into, size, reinterpret_cast<off_t>(from));
        return got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    template <class T>
    bool get(const void *from, T &into) const {
        static_assert(std::is_trivially_copyable_v<T>);
        // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
        constexpr std::size_t size = sizeof(into);
        return from && read(from, &into, size) == size;
    }
    template <class T>
    T get_or(const void *from, T fallback) const {
        T value;
        return get(from, value) ? value : fallback;
    }
    // A string, cut to fit.
    void get_text(const char *from, char *into, std::size_t size) const {
        const std::size_t got = from ? read(from, into, size - 1) : 0;
        into[got] = '\0';
    }

  private:
    int file_;
};

} // namespace sennit::watch
