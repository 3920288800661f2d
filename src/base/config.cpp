// SPDX-License-Identifier: Apache-2.0
#include "base/config.h"

#include "base/message.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sennit {
namespace {

Config g_config;

// Index of `word` in "a|b|c", or -1.
int find_choice(const char *choices, const char *word) {
    const size_t length = std::strlen(word);
    int index = 0;
    for (const char *at = choices; length > 0; ++index) {
        const char *end = std::strchr(at, '|');
        const size_t size = end ? static_cast<size_t>(end - at) : std::strlen(at);
        if (size == length && std::strncmp(at, word, size) == 0)
            return index;
        if (!end)
            break;
        at = end + 1;
    }
    return -1;
}

int read_choice(const char *variable, const char *fallback, const char *choices) {
    if (const char *value = std::getenv(variable)) {
        const int index = find_choice(choices, value);
        if (index >= 0)
            return index;
        warn("%s='%s' is unknown: use one of %s; going on with '%s'", variable, value, choices,
             fallback);
    }
    return find_choice(choices, fallback);
}

long read_number(const char *variable, const char *fallback, const char *range) {
    const long by_default = std::strtol(fallback, nullptr, 10);
    const char *value = std::getenv(variable);
    if (!value)
        return by_default;
    char *end = nullptr;
    const long low = std::strtol(range, &end, 10);
    const long high = std::strtol(end + 2, nullptr, 10); // after ".."
    errno = 0;
    const long number = std::strtol(value, &end, 10);
    if (errno == 0 && end != value && *end == '\0' && number >= low && number <= high)
        return number;
    warn("%s='%s' is not a number in %s; going on with %s", variable, value, range, fallback);
    return by_default;
}

const char *read_text(const char *variable, const char *fallback, const char *) {
    const char *value = std::getenv(variable);
    return value ? value : fallback;
}

} // namespace

const Config &config() {
    return g_config;
}

std::string_view choice_word(std::string_view words, int index) {
    for (; index > 0; --index)
        words.remove_prefix(words.find('|') + 1);
    return words.substr(0, words.find('|'));
}

std::string_view policy_word() {
    std::string_view words;
#define SENNIT_OPTION(field, variable, kind, fallback, range, help)                                \
    if (std::string_view(#field) == "policy")                                                      \
        words = range;
#include "base/options.def"
#undef SENNIT_OPTION
    return choice_word(words, g_config.policy);
}

void choose_policy(Policy policy) {
    g_config.policy = static_cast<int>(policy);
}

void config_setup() {
#define SENNIT_OPTION(field, variable, kind, fallback, range, help)                                \
    g_config.field = read_##kind(variable, fallback, range);
#include "base/options.def"
#undef SENNIT_OPTION
}

} // namespace sennit
