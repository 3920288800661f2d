// SPDX-License-Identifier: Apache-2.0
// Where the files lie that describe the machine: the system's, or a copy of another machine's
// (SENNIT_SYSTEM_FILES, base/options.def).
#pragma once

#include "base/environment.h"

#include <cstdio>
#include <initializer_list>
#include <unistd.h>

namespace sennit {

inline constexpr const char *kSystemFiles = "/sys/devices/system";

// Is there anything in it that Sennit reads?
inline bool describes_machine(const char *folder) {
    for (const char *part : {"cpu", "node", "cgroup"}) {
        char path[4096];
        std::snprintf(path, sizeof path, "%s/%s/", folder, part);
        if (access(path, R_OK | X_OK) == 0)
            return true;
    }
    return false;
}

// Null: none is given. One that describes no machine does not count; the runtime says so
// (config_setup).
inline const char *given_system_files() {
    const char *const given = trusted_environment("SENNIT_SYSTEM_FILES");
    return given && *given && describes_machine(given) ? given : nullptr;
}

} // namespace sennit
