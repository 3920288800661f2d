// SPDX-License-Identifier: Apache-2.0
// Random bits, also where the system forbids getrandom(2).
#pragma once

#include "base/hash.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

namespace sennit {

inline std::uint64_t random_word() {
    std::uint64_t word = 0;
    ssize_t got = getrandom(&word, sizeof word, 0);
    if (got != sizeof word)
        if (const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC); file >= 0) {
            got = read(file, &word, sizeof word);
            close(file);
        }
    if (got == sizeof word)
        return word;
    // What the kernel gave this program, and the time: others have other ones.
    if (const auto bytes = getauxval(AT_RANDOM); bytes != 0)
        std::memcpy(&word, reinterpret_cast<const void *>(bytes), sizeof word);
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return word ^ (static_cast<std::uint64_t>(now.tv_sec) << 32 ^
                   static_cast<std::uint64_t>(now.tv_nsec)) *
                      kGolden;
}

} // namespace sennit
