// SPDX-License-Identifier: Apache-2.0
// A file of the system's that is a line or two: /proc, /sys. Without stdio and its memory.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace sennit {

// The beginning of the file, as much as fits, as a string; its length, 0 where nothing can be read.
// A pipe by that name is not waited for.
inline std::size_t read_small_file(const char *path, char *text, std::size_t size) {
    ssize_t got = -1;
    if (const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); file >= 0) {
        do
            got = read(file, text, size - 1);
        while (got < 0 && errno == EINTR);
        close(file);
    }
    const std::size_t length = got > 0 ? static_cast<std::size_t>(got) : 0;
    text[length] = '\0';
    return length;
}

// Does the system promise no more memory than it has (vm.overcommit_memory is 2)? Then addresses
// without memory count, too.
inline bool counts_promised_memory() {
    char text[8];
    return read_small_file("/proc/sys/vm/overcommit_memory", text, sizeof text) > 0 && *text == '2';
}

// A list of numbers as the system's files have it: 0-3,8,10-11.

// visit(number) for each that is less than `end`; what is no list ends it.
template <class Visit>
void each_of_list(const char *text, int end, Visit visit) {
    for (const char *at = text; *at >= '0' && *at <= '9';) {
        char *after = nullptr;
        const long first = std::strtol(at, &after, 10);
        const long last = *after == '-' ? std::strtol(after + 1, &after, 10) : first;
        for (long number = first; number <= last && number < end; ++number)
            visit(static_cast<int>(number));
        at = *after == ',' ? after + 1 : after;
    }
}

} // namespace sennit
