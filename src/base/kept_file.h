// SPDX-License-Identifier: Apache-2.0
// Files that the runtime keeps open in a program, and room in them.
#pragma once

#include "base/held_signals.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace sennit {

// The same file under a number above those of the standard streams. Where a program has no standard
// output, the file would get that number, and what the program prints would be written into it.
// -1 and errno: there is no such number, or `file` was none.
inline int above_standard(int file) {
    if (file < 0 || file > STDERR_FILENO)
        return file;
    const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int saved = errno;
    close(file);
    errno = saved;
    return moved;
}

// For systems that forbid fallocate(2): zeros, in a part of the file that was never written.
inline int write_zeros(int file, off_t at, off_t size) {
    static constexpr char zeros[4096] = {};
    while (size > 0) {
        const auto part = static_cast<std::size_t>(std::min<off_t>(size, sizeof zeros));
        const ssize_t written = pwrite(file, zeros, part, at);
        if (written < 0 && errno != EINTR)
            return errno;
        at += std::max<ssize_t>(written, 0);
        size -= std::max<ssize_t>(written, 0);
    }
    return 0;
}

// Room for a part of a file that is to be mapped and was never written. Without it, a full disk
// would end the program with SIGBUS when it writes there. Returns 0, or an error's number.
inline int make_file_room(int file, off_t at, off_t size) {
    const HeldSignals held({SIGXFSZ});
    const int error = posix_fallocate(file, at, size);
    return error == ENOSYS || error == EPERM ? write_zeros(file, at, size) : error;
}

} // namespace sennit
