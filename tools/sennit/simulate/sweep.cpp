// SPDX-License-Identifier: Apache-2.0
#include "simulate/sweep.h"

#include "common/failure.h"

#include <cmath>
#include <cstdlib>

namespace sennit::tool {

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::size_t at = 0;
    for (;;) {
        const std::size_t next = text.find(separator, at);
        parts.push_back(text.substr(at, next - at));
        if (next == std::string::npos)
            return parts;
        at = next + 1;
    }
}

std::string refuse_no_number(const std::string &text) {
    char *end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == '\0' && std::isfinite(value)
               ? ""
               : fmt::format("'{}' is not a number", text);
}

double parse_number(const std::string &what, const std::string &text) {
    std::size_t used = 0;
    double value = 0;
    try {
        value = std::stod(text, &used);
    } catch (const std::exception &) {
        used = 0;
    }
    if (used == 0 || used != text.size() || !std::isfinite(value))
        fail("{} '{}' is not a number", what, text);
    return value;
}

int parse_whole(const std::string &what, const std::string &text, int least, int most) {
    const double number = parse_number(what, text);
    if (number < least || number > most || number != std::floor(number))
        fail("{}: '{}' is not a whole number from {} to {}", what, text, least, most);
    return static_cast<int>(number);
}

Sweep parse_sweep(const std::string &text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
        fail("--sweep '{}' is not NAME=VALUE,VALUE,... or NAME=FIRST..LAST*FACTOR", text);
    Sweep sweep{text.substr(0, equals), {}};
    const std::string values = text.substr(equals + 1);
    const std::size_t dots = values.find("..");
    if (dots == std::string::npos) {
        for (const std::string &value : split(values, ','))
            sweep.values.push_back(parse_number(fmt::format("--sweep {}", sweep.name), value));
        return sweep;
    }
    const std::size_t sign = values.find_first_of("*+", dots);
    const double first = parse_number("--sweep", values.substr(0, dots));
    const double last = parse_number(
        "--sweep", values.substr(dots + 2, sign == std::string::npos ? sign : sign - dots - 2));
    const bool times = sign != std::string::npos && values[sign] == '*';
    const double step =
        sign == std::string::npos ? 1 : parse_number("--sweep", values.substr(sign + 1));
    const bool ends = times ? step > 1 && first > 0 : step > 0;
    if (!ends)
        fail("--sweep '{}' never ends", text);
    double value = first;
    while (value <= last * (1 + 1e-9)) {
        sweep.values.push_back(value);
        if (sweep.values.size() > 100000)
            fail("--sweep '{}' has more than 100,000 values", text);
        value = times ? value * step : value + step;
    }
    if (sweep.values.empty())
        fail("--sweep '{}' has no value: the first one is above the last", text);
    return sweep;
}

} // namespace sennit::tool
