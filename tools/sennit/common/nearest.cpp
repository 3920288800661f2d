// SPDX-License-Identifier: Apache-2.0
#include "common/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace sennit::tool {
namespace {

// Letters that are missing, too many, others, or changed places with their neighbour: how many?
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::vector<std::size_t>> steps(from.size() + 1,
                                                std::vector<std::size_t>(to.size() + 1));
    for (std::size_t i = 0; i <= from.size(); ++i)
        for (std::size_t j = 0; j <= to.size(); ++j) {
            if (i == 0 || j == 0) {
                steps[i][j] = i + j;
                continue;
            }
            const std::size_t other = from[i - 1] == to[j - 1] ? 0 : 1;
            steps[i][j] =
                std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + other});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
        }
    return steps[from.size()][to.size()];
}

} // namespace

std::string meant_instead(std::string_view typed, const std::vector<std::string> &known,
                          std::size_t common) {
    constexpr std::size_t kLettersAnError = 3; // of a word: fewer are another word
    const std::string *nearest = nullptr;
    std::size_t least = std::min<std::size_t>(2, (typed.size() - common) / kLettersAnError) + 1;
    for (const std::string &word : known)
        if (const std::size_t steps = distance(typed, word); steps < least) {
            nearest = &word;
            least = steps;
        }
    return nearest ? fmt::format(" (do you mean '{}'?)", *nearest) : "";
}

} // namespace sennit::tool
