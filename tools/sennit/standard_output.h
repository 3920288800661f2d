// SPDX-License-Identifier: Apache-2.0
// Printing that failed must not look like success: the disk of `sennit simulate > file` may be
// full.
#pragma once

#include "failure.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace sennit::tool {

// The last thing in main(): the exit code of a command that would end with `code`.
inline int after_output(int code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
        return code;
    std::fprintf(stderr, "sennit: cannot write to stdout: %s\n", std::strerror(errno));
    return code != 0 ? code : refused;
}

} // namespace sennit::tool
