// SPDX-License-Identifier: Apache-2.0
// Which ways to break the code are found.
#include "schedules.h"

#include <algorithm>
#include <fstream>

namespace sennit::schedules {

std::string line_of(const std::string &file, unsigned line) {
    std::ifstream input(file);
    std::string text;
    for (unsigned i = 0; i < line; ++i)
        std::getline(input, text);
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

namespace {

bool is_refused(const std::vector<Test> &tests, const Flaw &flaw) {
    return std::any_of(tests.begin(), tests.end(),
                       [&](const Test &test) { return !explore(test, flaw).failure.empty(); });
}

} // namespace

std::string not_refused(const std::vector<Test> &tests, const std::vector<Break> &breaks) {
    std::set<std::pair<std::string, unsigned>> places;
    for (const Test &test : tests) {
        Result right = explore(test);
        for (auto *some : {&right.stores, &right.loads, &right.changes})
            places.merge(*some);
    }
    std::string all;
    for (const auto &[kind, text, reads] : breaks) {
        bool is_known = false;
        for (const auto &[file, line] : places) {
            if (line_of(file, line).find(text) == std::string::npos)
                continue;
            is_known = true;
            if (!is_refused(tests, {kind, file, line, reads}))
                all += "not refused: " + std::to_string(static_cast<int>(kind)) + " at " + file +
                       ":" + std::to_string(line) + "\n";
        }
        if (!is_known)
            all += "not come by: " + text + "\n";
    }
    return all;
}

} // namespace sennit::schedules
