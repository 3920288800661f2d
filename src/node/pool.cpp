// SPDX-License-Identifier: Apache-2.0
#include "node/pool.h"

#include "base/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace sennit::node {
namespace {

constexpr double kMostShare = 1e6;
constexpr int kMostPriority = 1'000'000;

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// "0.75": digits with one dot at most. Nothing else that strtod knows, and in no language but C's.
bool read_decimal(std::string_view text, double &value) {
    double result = 0;
    double place = 1;
    bool digits = false;
    bool dot = false;
    for (const char c : text) {
        if (c == '.' && !dot) {
            dot = true;
            continue;
        }
        if (c < '0' || c > '9')
            return false;
        digits = true;
        result = result * 10 + (c - '0');
        place *= dot ? 10 : 1;
    }
    value = result / place;
    return digits;
}

const char *given(const char *value) {
    return value ? value : "";
}

} // namespace

bool is_pool_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestPoolName && is_letter_or_digit(name[0]) &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.';
           });
}

void pool_path(std::string_view name, char *path, std::size_t size) {
    board_path(path, size);
    const std::size_t length = std::strlen(path);
    std::snprintf(path + length, size - length, "%s%.*s", kPoolSuffix,
                  static_cast<int>(name.size()), name.data());
}

bool read_share(std::string_view text, double &share) {
    const std::size_t slash = text.find('/');
    double above = 0;
    double below = 1;
    if (!read_decimal(text.substr(0, slash), above) ||
        (slash != std::string_view::npos && !read_decimal(text.substr(slash + 1), below)) ||
        below == 0)
        return false;
    const double value = above / below;
    const bool is_in_range = value >= 1 / kMostShare && value <= kMostShare;
    if (is_in_range)
        share = value;
    return is_in_range;
}

bool read_priority(std::string_view text, Precedence &precedence) {
    if (text == "leftover") {
        precedence = {0, true};
        return true;
    }
    int value = 0;
    const char *const begin = text.data();
    const char *const end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (text.empty() || error != std::errc{} || stop != end || value < -kMostPriority ||
        value > kMostPriority)
        return false;
    precedence = {value, false};
    return true;
}

Membership read_membership(Reason &bad) {
    Membership result;
    const char *const name = given(trusted_environment("SENNIT_POOL"));
    result.in_pool = *name != '\0' && is_pool_name(name);
    if (result.in_pool)
        pool_path(name, result.path, sizeof result.path);
    else
        board_path(result.path, sizeof result.path);
    if (*name != '\0' && !result.in_pool)
        bad.say("SENNIT_POOL='%s' is no name of a pool: this process is in none", name);
    if (const char *const text = given(trusted_environment("SENNIT_SHARE"));
        *text != '\0' && !read_share(text, result.share))
        bad.say("SENNIT_SHARE='%s' is no share, such as 3/4, 0.75 or 2: going on with 1", text);
    if (const char *const text = given(trusted_environment("SENNIT_PRIORITY"));
        *text != '\0' && !read_priority(text, result.precedence))
        bad.say("SENNIT_PRIORITY='%s' is neither a whole number nor 'leftover': going on with 0",
                text);
    return result;
}

} // namespace sennit::node
