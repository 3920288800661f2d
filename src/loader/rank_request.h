// SPDX-License-Identifier: Apache-2.0
// All that makes one rank: what a stub has got from its launcher, and hands to its host. Encoded,
// it is bytes whose lengths are checked (messages.h). Descriptors travel beside them.
#pragma once

#include "loader/messages.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::loader {

struct RankRequest {
    std::string program; // absolute
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::vector<std::int32_t> descriptors; // their numbers in the rank
    std::uint32_t mappings = 0;
    std::uint32_t file_mask = 0;
    bool fiber = false;
    std::uint64_t blocked_signals = 0;
    std::uint64_t ignored_signals = 0;
    std::string affinity; // the kernel's mask of CPUs
    std::array<rlimit, RLIM_NLIMITS> limits{};
};

// How many bytes come behind it. Nothing: it is damaged, or of another version.
std::optional<std::size_t> size_behind(const RequestHead &head);
// `bytes`: all that comes behind the head. Nothing: they are damaged.
std::optional<RankRequest> decode(const RequestHead &head, std::string_view bytes);

} // namespace sennit::loader
