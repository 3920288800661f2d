// SPDX-License-Identifier: Apache-2.0
// A survey in words.
#pragma once

#include "watch/survey.h"

namespace sennit::watch {

// What there is to say of a survey; malloc'ed, null without memory.
struct Report {
    char *text = nullptr;  // lines, each of them a waiter, or the cycle
    char *calls = nullptr; // the calls, a line each, for `sennit run` (tools/sennit/hang_watch.cpp)
    bool cycle = false;
    bool certain = false; // Survey::certain

    explicit Report(const Survey &survey);
    ~Report();
    Report(const Report &) = delete;
    Report &operator=(const Report &) = delete;
};

} // namespace sennit::watch
