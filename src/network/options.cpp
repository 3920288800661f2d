// SPDX-License-Identifier: Apache-2.0
#include "network/options.h"

#include "base/words.h"

#include <cstdio>

namespace sennit::network {

Options read_options() {
    Options options;
    const char *given = std::getenv("SENNIT_NETWORK");
    if (!given || !*given)
        return {};
    constexpr std::uint64_t most = 60'000'000;
    const Word words[] = {{"latency", &options.latency_ns, nullptr, 0, most, 1000},
                          {"bandwidth", &options.bandwidth, nullptr, 0, most},
                          {"eager", &options.eager, nullptr, 0, most},
                          {"patience", &options.patience_ns, nullptr, 0, most, 1'000'000'000},
                          {"payload", &options.payload, nullptr, 0, most}};
    if (const BadWord bad = read_words(given, words); bad.text) {
        std::fprintf(stderr,
                     "sennit: SENNIT_NETWORK='%s': '%.*s': use "
                     "latency:US[,bandwidth:MB/s][,eager:BYTES][,patience:S]"
                     "[,payload:BYTES]; going on without\n",
                     given, bad.length, bad.text);
        return {};
    }
    options.on = true;
    return options;
}

} // namespace sennit::network
