// SPDX-License-Identifier: Apache-2.0
// What the system calls this node.
#pragma once

#include <string>
#include <unistd.h>

namespace sennit::tool {

inline std::string host_name() {
    char name[256] = "?";
    gethostname(name, sizeof name - 1);
    return name;
}

} // namespace sennit::tool
