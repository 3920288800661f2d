// SPDX-License-Identifier: Apache-2.0
// The open files of this process, by bare system calls: for code that has no libc, or must not use
// it, as well.
#pragma once

#include "base/system_call.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace sennit {

// From now on this process may open as many as its hard limit says.
inline void open_most_files() {
    rlimit limit = {};
    system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, reinterpret_cast<long>(&limit), 0, 0);
    limit.rlim_cur = limit.rlim_max;
    system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, reinterpret_cast<long>(&limit), 0, 0, 0);
}

// As the kernel writes it.
struct FolderEntry {
    std::uint64_t node;
    std::int64_t next;
    std::uint16_t size;
    std::uint8_t type;
    char name[1];
};

// visit(number) for each number below RLIMIT_NOFILE that has a file: the way without /proc.
template <typename Visit>
void probe_open_files(Visit visit) {
    constexpr rlim_t most = 1 << 20; // the kernel's own usual limit
    rlimit limit{most, most};
    system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, reinterpret_cast<long>(&limit), 0, 0);
    const auto end = static_cast<int>(limit.rlim_max < most ? limit.rlim_max : most);
    for (int number = 0; number < end; ++number)
        if (system_call(SYS_fcntl, number, F_GETFD, 0, 0, 0, 0) >= 0)
            visit(number);
}

// visit(number) for each file that is open, in the order of their numbers. It may close the file.
template <typename Visit>
void each_open_file(Visit visit) {
    const long list = system_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/fd"),
                                  O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
    if (list < 0)
        return probe_open_files(visit);
    alignas(FolderEntry) char entries[1024] = {}; // the stack may be small
    for (long size; (size = system_call(SYS_getdents64, list, reinterpret_cast<long>(entries),
                                        sizeof entries, 0, 0, 0)) > 0;)
        for (const char *at = entries; at < entries + size;) {
            const auto &entry = *reinterpret_cast<const FolderEntry *>(at);
            at += entry.size;
            int number = 0;
            const char *digit = entry.name;
            for (; *digit >= '0' && *digit <= '9'; ++digit)
                number = number * 10 + (*digit - '0');
            if (digit != entry.name && number != list)
                visit(number);
        }
    system_call(SYS_close, list, 0, 0, 0, 0, 0);
}

// Those whose numbers are `first` to `last`. close_range(2) came with Linux 5.9, and containers
// forbid it. A loop over all numbers that there may be takes minutes where the limit is high.
inline void close_files(int first, int last) {
    if (system_call(SYS_close_range, first, last, 0, 0, 0, 0) == 0)
        return;
    each_open_file([&](int number) {
        if (number >= first && number <= last)
            system_call(SYS_close, number, 0, 0, 0, 0, 0);
    });
}

inline void close_files_from(int first) {
    close_files(first, ~0U >> 1);
}

} // namespace sennit
