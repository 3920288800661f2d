// SPDX-License-Identifier: Apache-2.0
// A line of /proc/<pid>/stat: "pid (name) state parent ...", where the name may hold anything, also
// ")".
#pragma once

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

} // namespace sennit::tool
