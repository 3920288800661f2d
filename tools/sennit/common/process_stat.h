// SPDX-License-Identifier: Apache-2.0
// A line of /proc/<pid>/stat: "pid (name) state parent ...", where the name may hold anything, also
// ")".
#pragma once

#include "base/small_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <sys/types.h>

namespace sennit::tool {

struct ProcessStat {
    char state;
    pid_t parent;
};

inline std::optional<ProcessStat> parse_process_stat(const std::string &line) {
    const std::size_t close = line.rfind(')');
    if (close == std::string::npos || close + 4 >= line.size())
        return std::nullopt;
    return ProcessStat{line[close + 2], std::atoi(line.c_str() + close + 4)};
}

// nullopt: there is no such process.
inline std::optional<ProcessStat> stat_of(pid_t process) {
    char line[512]; // the beginning, with all of the name
    read_small_file(fmt::format("/proc/{}/stat", process).c_str(), line, sizeof line);
    return parse_process_stat(line);
}

} // namespace sennit::tool
