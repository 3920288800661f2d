// SPDX-License-Identifier: Apache-2.0
// Completions as a file descriptor: an eventfd(2) of the caller's, to which each one adds 1.
//
// Invariant: the descriptor that is written to is a duplicate of the library's own. So no number is
// written to that the program has closed, and maybe given to another file, but for programs that
// close descriptors that they have not opened. No duplicate is 0, 1 or 2.
#pragma once

#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace sennit {

// The duplicate. A negative *fd becomes a new file. -1 and errno: there is none, *fd is as before.
inline int share_event_file(int *fd) {
    const bool is_new = *fd < 0;
    const int file = is_new ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : *fd;
    const int own = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (own >= 0) {
        *fd = file;
        return own;
    }
    const int error = errno;
    if (is_new && file >= 0)
        close(file);
    errno = error;
    return -1;
}

// Nothing will be told: the duplicate goes, and with it the file if it was new.
inline void give_back_event_file(int *fd, int fd_before, int own) {
    close(own);
    if (fd_before < 0)
        close(*fd);
    *fd = fd_before;
}

// The last thing that is done with the duplicate.
inline void tell_event_file(int own) {
    eventfd_write(own, 1);
    close(own);
}

} // namespace sennit
