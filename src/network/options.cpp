// SPDX-License-Identifier: Apache-2.0
#include "network/options.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sennit::network {
namespace {

bool read_word(Options &options, const char *text, std::size_t length) {
    struct {
        const char *name;
        std::uint64_t *value;
        std::uint64_t factor;
    } const words[] = {{"latency:", &options.latency_ns, 1000},
                       {"bandwidth:", &options.bandwidth, 1},
                       {"eager:", &options.eager, 1},
                       {"patience:", &options.patience_ns, 1'000'000'000},
                       {"payload:", &options.payload, 1}};
    for (const auto &word : words) {
        const std::size_t size = std::strlen(word.name);
        if (length <= size || std::strncmp(text, word.name, size) != 0 || text[size] < '0' ||
            text[size] > '9')
            continue;
        char *end = nullptr;
        errno = 0;
        const unsigned long long number = std::strtoull(text + size, &end, 10);
        if (errno != 0 || end != text + length || number > 60'000'000)
            return false;
        *word.value = number * word.factor;
        return true;
    }
    return false;
}

} // namespace

Options read_options() {
    Options options;
    const char *given = std::getenv("SENNIT_NETWORK");
    if (!given || !*given)
        return {};
    for (const char *at = given;; ++at) {
        const std::size_t length = std::strcspn(at, ",");
        if (!read_word(options, at, length)) {
            std::fprintf(stderr,
                         "sennit: SENNIT_NETWORK='%s': '%.*s': use "
                         "latency:US[,bandwidth:MB/s][,eager:BYTES][,patience:S]"
                         "[,payload:BYTES]; going on without\n",
                         given, static_cast<int>(length), at);
            return {};
        }
        at += length;
        if (*at == '\0')
            break;
    }
    options.on = true;
    return options;
}

} // namespace sennit::network
