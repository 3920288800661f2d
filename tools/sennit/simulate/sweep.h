// SPDX-License-Identifier: Apache-2.0
// `sennit simulate --sweep`: every value of a number. What cannot be read ends the command.
#pragma once

#include <string>
#include <vector>

namespace sennit::tool {

struct Sweep {
    std::string name;
    std::vector<double> values; // one at least
};

// "name=1,2,4" or "name=1..64*2" (times two up to) or "name=1..9+2".
Sweep parse_sweep(const std::string &text);

std::vector<std::string> split(const std::string &text, char separator);
// `what` is said of a text that is none.
// For CLI11: it takes "nan" for a number in every range. Nothing: it is a finite one.
std::string refuse_no_number(const std::string &text);
double parse_number(const std::string &what, const std::string &text);
int parse_whole(const std::string &what, const std::string &text, int least, int most);

} // namespace sennit::tool
