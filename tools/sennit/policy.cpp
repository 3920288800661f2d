// SPDX-License-Identifier: Apache-2.0
#include "policy.h"

#include "elf_image.h"
#include "failure.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace sennit::tool {
namespace {

struct OptionRow {
    std::string_view variable;
    const char *range;
};
constexpr OptionRow option_rows[] = {
#define SENNIT_OPTION(field, variable, kind, fallback, range, help) {variable, range},
#include "../../src/base/options.def"
#undef SENNIT_OPTION
};

// Policies of the design that later versions bring.
constexpr std::array<std::string_view, 1> planned_policies = {"global"};

} // namespace

std::vector<std::string> known_policies() {
    for (const OptionRow &row : option_rows)
        if (row.variable == "SENNIT_POLICY")
            return split_path_list(row.range, "|");
    return {};
}

std::string parse_policy(const std::string &text) {
    const std::vector<std::string> known = known_policies();
    if (std::find(known.begin(), known.end(), text) != known.end())
        return text;
    const bool planned =
        std::find(planned_policies.begin(), planned_policies.end(), text) != planned_policies.end();
    fail("policy '{}' is {}: use one of {}", text, planned ? "not in this version yet" : "unknown",
         fmt::join(known, ", "));
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
