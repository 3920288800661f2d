// SPDX-License-Identifier: Apache-2.0
// Files that Sennit writes where a person says, perhaps in a folder in which others may write, too:
// /tmp, a project's folder. Invariant: what another user has put there is never written to,
// whatever link, file or pipe it is.
#pragma once

#include "base/kept_file.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace sennit {

// A file that was not there; a link by that name is not followed. -1 and errno.
inline int create_file(const char *path) {
    return above_standard(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

// A new file beside `path`, which is to take its name when it is whole. Nobody can have made it
// before, whatever others put into the folder. -1 and errno.
inline int create_part(const char *path, char (&part)[PATH_MAX]) {
    constexpr int kAttempts = 64;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (std::snprintf(part, sizeof part, "%s.part.%d.%lx", path, static_cast<int>(getpid()),
                          static_cast<unsigned long>(now.tv_nsec)) >=
            static_cast<int>(sizeof part)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int file = create_file(part);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

// Why one of these functions has failed, for people.
inline const char *own_file_error(int error) {
    return error == EPERM ? "it is another user's" : std::strerror(error);
}

namespace own_file_detail {

constexpr long kProc = 0x9fa0; // PROC_SUPER_MAGIC, linux/magic.h
constexpr int kMostLinks = 40; // as the kernel's

// Those of /proc/<process>/fd lead to what is open already, not to a name.
inline bool is_descriptor(const char *link) {
    const int file = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct statfs facts{};
    const bool found = file >= 0 && fstatfs(file, &facts) == 0 && facts.f_type == kProc;
    if (file >= 0)
        close(file);
    return found;
}

inline bool is_trusted(const struct stat &facts) {
    return facts.st_uid == geteuid() || facts.st_uid == 0;
}

// `path` becomes what the link by this name names. False and errno.
inline bool follow(char (&path)[PATH_MAX]) {
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    char *const last = std::strrchr(path, '/');
    const std::size_t folder =
        target[0] == '/' || !last ? 0 : static_cast<std::size_t>(last + 1 - path);
    if (folder + static_cast<std::size_t>(length) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    std::memcpy(path + folder, target, static_cast<std::size_t>(length) + 1);
    return true;
}

} // namespace own_file_detail

// `path` without links at its end, if this user or the system has made each. What it names need not
// be there. A link to an open descriptor (/dev/stdout) stays. False and errno: EPERM if another
// user has made one.
inline bool resolve_own_links(char (&path)[PATH_MAX]) {
    using namespace own_file_detail;
    for (int links = 0; links < kMostLinks; ++links) {
        struct stat facts{};
        if (lstat(path, &facts) != 0)
            return errno == ENOENT;
        if (!S_ISLNK(facts.st_mode) || is_descriptor(path))
            return true;
        if (!is_trusted(facts)) {
            errno = EPERM;
            return false;
        }
        if (!follow(path))
            return false;
    }
    errno = ELOOP;
    return false;
}

// A file that is there, for reading and writing, if it is this user's and has no other name. -1 and
// errno.
inline int reopen_file(const char *path) {
    const int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat facts{};
    if (file < 0 || (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                     facts.st_uid == geteuid() && facts.st_nlink == 1))
        return file;
    close(file);
    errno = EPERM;
    return -1;
}

// Something that is no regular file, to write to: an open descriptor, a device, a pipe, of this
// user's or the system's.
inline int open_special_file(const char *path) {
    using namespace own_file_detail;
    if (is_descriptor(path))
        return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    struct stat facts{};
    if (lstat(path, &facts) != 0)
        return -1;
    // A device says by itself who may write to it. A pipe waits for its reader.
    if (S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode) ||
        (!S_ISCHR(facts.st_mode) && !is_trusted(facts))) {
        errno = EPERM;
        return -1;
    }
    return open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
}

// For a text from its beginning: a new file, an own one that is overwritten, or what is no file
// (open_special_file). Links are followed if this user has made them. -1 and errno; EPERM: another
// user has put something there.
inline int open_own_file(const char *name) {
    char path[PATH_MAX];
    if (std::snprintf(path, sizeof path, "%s", name) >= static_cast<int>(sizeof path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!resolve_own_links(path))
        return -1;
    int file = create_file(path);
    if (file >= 0 || errno != EEXIST)
        return file;
    struct stat facts{};
    if (lstat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return open_special_file(path);
    file = reopen_file(path);
    if (file >= 0 && ftruncate(file, 0) != 0) {
        close(file);
        file = -1;
    }
    return file;
}

} // namespace sennit
