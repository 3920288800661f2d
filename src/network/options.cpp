// SPDX-License-Identifier: Apache-2.0
#include "network/options.h"

#include "base/environment.h"
#include "base/option_rows.h"
#include "base/words.h"

#include <cstdio>

namespace sennit::network {
namespace {
constexpr OptionRow kRow =
#define SENNIT_TEXT(...) SENNIT_TEXT_ROW(__VA_ARGS__)
#include "network/options.def"
#undef SENNIT_TEXT
    ;
} // namespace

Options read_options() {
    Options options;
    const char *given = trusted_environment(kRow.variable);
    if (!given || !*given)
        return {};
    constexpr std::uint64_t most = 60'000'000;
    const Word words[] = {{"latency", &options.latency_ns, nullptr, 0, most, 1000},
                          {"bandwidth", &options.bandwidth, nullptr, 0, most},
                          {"eager", &options.eager, nullptr, 0, most},
                          {"patience", &options.patience_ns, nullptr, 0, most, 1'000'000'000},
                          {"payload", &options.payload, nullptr, 0, most}};
    if (const BadWord bad = read_words(given, words); bad.text) {
        std::fprintf(stderr, "sennit: %s='%s': '%.*s': use %s; going on without\n", kRow.variable,
                     given, bad.length, bad.text, kRow.range);
        return {};
    }
    options.on = true;
    return options;
}

} // namespace sennit::network
