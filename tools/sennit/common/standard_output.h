// SPDX-License-Identifier: Apache-2.0
// Standard streams: that they are there, and that what was printed has come through.
//
// Printing that failed must not look like success: the disk of `sennit simulate > file` may be
// full.
#pragma once

#include "common/failure.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace sennit::tool {

// The first thing in main(). Of the standard streams that the caller has closed, the numbers are
// kept free of other files: a line for people would be written into them. As before, nothing can be
// read or written there, and programs that are started have no such stream.
inline void hold_standard_numbers() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(number, F_GETFD) < 0)
            open("/", O_PATH | O_CLOEXEC);
}

// For a program that needs them. Those of which only the numbers are held lead nowhere then.
inline void open_standard_streams() {
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (nowhere >= 0 && (fcntl(number, F_GETFL) & O_PATH) != 0)
            dup2(nowhere, number);
}

// The last thing in main(): the exit code of a command that would end with `code`.
inline int after_output(int code) {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
        return code;
    std::fprintf(stderr, "sennit: cannot write to stdout: %s\n", std::strerror(errno));
    return code != 0 ? code : refused;
}

} // namespace sennit::tool
