// SPDX-License-Identifier: Apache-2.0
// What SENNIT_NETWORK asks for; options.def has its row.
#pragma once

#include <cstdint>

namespace sennit::network {

struct Options {
    bool on = false;
    std::uint64_t latency_ns = 0;
    std::uint64_t bandwidth = 0;      // MB/s; 0: no limit
    std::uint64_t eager = UINT64_MAX; // bytes; longer messages wait for their receives
    // A message that has waited so long for its receive is taken to have one that cannot be told.
    std::uint64_t patience_ns = 60'000'000'000;
    std::uint64_t payload = UINT64_MAX; // bytes carried in truth
};

// What the environment says. If that cannot be understood, there is one line on stderr, and no
// network.
Options read_options();

} // namespace sennit::network
