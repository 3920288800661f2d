// SPDX-License-Identifier: Apache-2.0
// The only place where Sennit's libraries read the environment (test `layers`).
//
// A program with more rights than its caller (set-uid, set-gid, file capabilities) may find Sennit
// by its RPATH. Its caller chose the environment, and must not choose what is loaded and written
// with the program's rights. So there every variable counts as not set. Stock runtimes take the
// numbers, such as OMP_NUM_THREADS, also there: not worth a second list that has to be right.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <unistd.h>

namespace sennit {

// Null: not set, or not to be trusted.
inline const char *trusted_environment(const char *name) {
    return secure_getenv(name);
}

// Where the files lie that describe the machine: the system's, or a copy of another machine's
// (SENNIT_SYSTEM_FILES, base/options.def).
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
