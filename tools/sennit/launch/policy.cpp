// SPDX-License-Identifier: Apache-2.0
#include "launch/policy.h"

#include "common/elf_image.h"
#include "common/failure.h"

#include "base/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace sennit::tool {
namespace {

constexpr Binding bindings[] = {
    {"none", "false", nullptr},     {"thread", "true", "threads"},    {"core", "true", "cores"},
    {"cache", "true", "ll_caches"}, {"numa", "true", "numa_domains"}, {"socket", "true", "sockets"},
};

} // namespace

std::vector<std::string> known_bindings() {
    std::vector<std::string> words;
    for (const Binding &row : bindings)
        words.emplace_back(row.word);
    return words;
}

std::string bind_help() {
    return fmt::format("bind each thread, within its rank's share of the machine, to a: {} "
                       "(OMP_PROC_BIND, OMP_PLACES)",
                       fmt::join(known_bindings(), ", "));
}

const Binding *parse_bind(const std::string &text) {
    for (const Binding &row : bindings)
        if (text == row.word)
            return &row;
    fail("--bind '{}' is unknown: use one of {}", text, fmt::join(known_bindings(), ", "));
}

std::vector<std::string> known_policies() {
    return split_path_list(SENNIT_WORDS(SENNIT_POLICIES), "|");
}

std::string parse_policy(const std::string &text) {
    const std::vector<std::string> known = known_policies();
    if (std::find(known.begin(), known.end(), text) != known.end())
        return text;
    fail("policy '{}' is unknown: use one of {}", text, fmt::join(known, ", "));
}

int parse_count(const char *option, const std::string &text, int largest) {
    int value = 0;
    const char *end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (result.ec != std::errc{} || result.ptr != end || value < 1 || value > largest)
        fail("{} '{}' is not a number from 1 to {}", option, text, largest);
    return value;
}

std::optional<MpiKind> parse_mpi(const std::string &text) {
    if (text == "auto")
        return std::nullopt;
    const std::optional<MpiKind> kind = mpi_kind_from_word(text);
    if (!kind)
        fail("--mpi '{}' is unknown: use auto, mpich, openmpi or mpiabi", text);
    return kind;
}

} // namespace sennit::tool
