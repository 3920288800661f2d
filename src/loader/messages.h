// SPDX-License-Identifier: Apache-2.0
// What travels between a stub and its host, byte by byte. A stub has no libc (loader/stub), so
// these are plain data.
#pragma once

#include <cstdint>
#include <sys/resource.h>

namespace sennit::loader {

// Stands in place of a descriptor's number for the working directory.
inline constexpr std::int32_t kWorkingDirectory = -1;

// As many descriptors come with one message; the kernel's limit is 253.
inline constexpr std::uint32_t kMostAtOnce = 250;

// A stub connects, and waits for its turn (News::come). Then it sends its request. So the requests
// of many stubs are not on their way at once: the kernel lets a user have no more descriptors on
// their way than a process may have open (RLIMIT_NOFILE; root is exempt).
//
// The beginning of a request. Behind it come the numbers that the descriptors get in the rank, the
// mask of CPUs, and the texts, each with its final zero: the program, its arguments, its
// environment. The first descriptors come with this; the others, with one byte for each
// kMostAtOnce, behind the texts.
struct RequestHead {
    // One version of Sennit understands another only if this is the same.
    static constexpr std::uint64_t kMagic = 0x34747269566e6e53; // "SnnVirt4"

    std::uint64_t magic = kMagic;
    std::uint64_t text_size = 0;
    std::uint32_t descriptors = 0;
    std::uint32_t affinity_size = 0;
    std::uint32_t arguments = 0;
    std::uint32_t environment = 0;
    std::uint32_t mappings = 0; // how many it will probably need (address_space.h)
    std::uint32_t file_mask = 0;
    std::uint32_t fiber = 0; // 1: it is to be a rank fiber (src/virt)
    std::uint32_t unused = 0;
    std::uint64_t blocked_signals = 0; // bit s - 1: signal s
    std::uint64_t ignored_signals = 0;
    rlimit limits[RLIM_NLIMITS] = {};
};

// News: what the host tells of the rank. Order: what the stub asks for.
struct News {
    enum Kind : std::int32_t {
        come,    // send the request
        started, // value: its process
        full,    // no room in this address space: ask the next
        refused, // text says why
        stopped, // value: by which signal
        ended    // value: as wait(2) has it
    };
    std::int32_t kind = refused;
    std::int32_t value = 0;
    char text[504] = {};
};
struct Order {
    std::int32_t signal = 0;
};

} // namespace sennit::loader
