// SPDX-License-Identifier: Apache-2.0
// All that makes one rank: what a stub has got from its launcher, and hands to its host. Encoded,
// it is a string of bytes whose lengths are checked. Descriptors travel beside it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace sennit::loader {

// Stands in place of a descriptor's number for the working directory.
inline constexpr std::int32_t kWorkingDirectory = -1;

struct RankRequest {
    std::string program; // absolute
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::vector<std::int32_t> descriptors; // their numbers in the rank
    std::uint32_t mappings = 0;            // how many it will probably need (address_space.h)
    std::uint32_t file_mask = 0;
    std::uint32_t fiber = 0;           // 1: it is to be a rank fiber (src/virt)
    std::uint64_t blocked_signals = 0; // bit s - 1: signal s
    std::uint64_t ignored_signals = 0;
    std::string affinity; // the kernel's mask of CPUs
    std::array<rlimit, RLIM_NLIMITS> limits{};
};

std::string encode(const RankRequest &request);
std::optional<RankRequest> decode(const std::string &bytes); // nothing: it is damaged

// News: what the host tells of the rank. Order: what the stub asks for.
struct News {
    enum Kind : std::int32_t {
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
