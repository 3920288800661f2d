// SPDX-License-Identifier: Apache-2.0
// libc's calls that take a path, as programs use them to find or to read themselves: a path that
// means the rank's own program, arguments or environment is put right (self.h).
#include "ranks/inside/next.h"
#include "ranks/inside/self.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

using namespace sennit::loader::inside;

namespace {

// As the kernel: as much as fits, without a zero.
ssize_t put(const char *path, char *to, std::size_t size) {
    const std::size_t length = std::strlen(path);
    const std::size_t copied = length < size ? length : size;
    std::memcpy(to, path, copied);
    return static_cast<ssize_t>(copied);
}

// The program's path if the call asks for it.
const char *asked_program(const char *path, std::size_t size) {
    const char *const program = real_program(path);
    return program == path || size == 0 ? nullptr : program;
}

} // namespace

// Calls of the form result(..., path, ...), whose path alone changes.
#define SENNIT_READS(result, none, name, parameters, types, arguments)                             \
    namespace {                                                                                    \
    constinit Next<result types> next_##name{#name};                                               \
    }                                                                                              \
    SENNIT_IN_FRONT(result, name, parameters) {                                                    \
        const RealPath real(path);                                                                 \
        return real.failed() ? none : next_##name arguments;                                       \
    }

SENNIT_READS(int, -1, open, (const char *path, int flags, mode_t mode), (const char *, int, mode_t),
             (real.get(), flags, mode))
SENNIT_READS(int, -1, open64, (const char *path, int flags, mode_t mode),
             (const char *, int, mode_t), (real.get(), flags, mode))
SENNIT_READS(int, -1, __open_2, (const char *path, int flags), (const char *, int),
             (real.get(), flags))
SENNIT_READS(int, -1, __open64_2, (const char *path, int flags), (const char *, int),
             (real.get(), flags))
SENNIT_READS(int, -1, openat, (int folder, const char *path, int flags, mode_t mode),
             (int, const char *, int, mode_t), (folder, real.get(), flags, mode))
SENNIT_READS(int, -1, openat64, (int folder, const char *path, int flags, mode_t mode),
             (int, const char *, int, mode_t), (folder, real.get(), flags, mode))
SENNIT_READS(int, -1, __openat_2, (int folder, const char *path, int flags),
             (int, const char *, int), (folder, real.get(), flags))
SENNIT_READS(int, -1, __openat64_2, (int folder, const char *path, int flags),
             (int, const char *, int), (folder, real.get(), flags))
SENNIT_READS(FILE *, nullptr, fopen, (const char *path, const char *mode),
             (const char *, const char *), (real.get(), mode))
SENNIT_READS(FILE *, nullptr, fopen64, (const char *path, const char *mode),
             (const char *, const char *), (real.get(), mode))
SENNIT_READS(FILE *, nullptr, freopen, (const char *path, const char *mode, FILE *stream),
             (const char *, const char *, FILE *), (real.get(), mode, stream))
SENNIT_READS(FILE *, nullptr, freopen64, (const char *path, const char *mode, FILE *stream),
             (const char *, const char *, FILE *), (real.get(), mode, stream))

// Of the program alone. lstat and AT_SYMLINK_NOFOLLOW ask for the link, which is as it should be.
#define SENNIT_LOOKS(result, name, parameters, types, arguments)                                   \
    namespace {                                                                                    \
    constinit Next<result types> next_##name{#name};                                               \
    }                                                                                              \
    SENNIT_IN_FRONT(result, name, parameters) {                                                    \
        return next_##name arguments;                                                              \
    }

namespace {

const char *followed(const char *path, int flags) {
    return (flags & AT_SYMLINK_NOFOLLOW) != 0 ? path : real_program(path);
}

} // namespace

SENNIT_LOOKS(int, stat, (const char *path, struct stat *to), (const char *, struct stat *),
             (real_program(path), to))
SENNIT_LOOKS(int, stat64, (const char *path, struct stat64 *to), (const char *, struct stat64 *),
             (real_program(path), to))
SENNIT_LOOKS(int, __xstat, (int version, const char *path, struct stat *to),
             (int, const char *, struct stat *), (version, real_program(path), to))
SENNIT_LOOKS(int, __xstat64, (int version, const char *path, struct stat64 *to),
             (int, const char *, struct stat64 *), (version, real_program(path), to))
SENNIT_LOOKS(int, fstatat, (int folder, const char *path, struct stat *to, int flags),
             (int, const char *, struct stat *, int), (folder, followed(path, flags), to, flags))
SENNIT_LOOKS(int, fstatat64, (int folder, const char *path, struct stat64 *to, int flags),
             (int, const char *, struct stat64 *, int), (folder, followed(path, flags), to, flags))
SENNIT_LOOKS(int, __fxstatat,
             (int version, int folder, const char *path, struct stat *to, int flags),
             (int, int, const char *, struct stat *, int),
             (version, folder, followed(path, flags), to, flags))
SENNIT_LOOKS(int, __fxstatat64,
             (int version, int folder, const char *path, struct stat64 *to, int flags),
             (int, int, const char *, struct stat64 *, int),
             (version, folder, followed(path, flags), to, flags))
SENNIT_LOOKS(int, statx, (int folder, const char *path, int flags, unsigned mask, struct statx *to),
             (int, const char *, int, unsigned, struct statx *),
             (folder, followed(path, flags), flags, mask, to))
SENNIT_LOOKS(char *, realpath, (const char *path, char *to), (const char *, char *),
             (real_program(path), to))
SENNIT_LOOKS(char *, __realpath_chk, (const char *path, char *to, std::size_t room),
             (const char *, char *, std::size_t), (real_program(path), to, room))
SENNIT_LOOKS(char *, canonicalize_file_name, (const char *path), (const char *),
             (real_program(path)))

// The link itself.
#define SENNIT_READS_LINK(name, parameters, types, arguments)                                      \
    namespace {                                                                                    \
    constinit Next<ssize_t types> next_##name{#name};                                              \
    }                                                                                              \
    SENNIT_IN_FRONT(ssize_t, name, parameters) {                                                   \
        if (const char *program = asked_program(path, size))                                       \
            return put(program, to, size);                                                         \
        return next_##name arguments;                                                              \
    }

SENNIT_READS_LINK(readlink, (const char *path, char *to, std::size_t size),
                  (const char *, char *, std::size_t), (path, to, size))
SENNIT_READS_LINK(readlinkat, (int folder, const char *path, char *to, std::size_t size),
                  (int, const char *, char *, std::size_t), (folder, path, to, size))
// Compilers call these where they know how much room there is.
SENNIT_READS_LINK(__readlink_chk, (const char *path, char *to, std::size_t size, std::size_t room),
                  (const char *, char *, std::size_t, std::size_t), (path, to, size, room))
SENNIT_READS_LINK(__readlinkat_chk,
                  (int folder, const char *path, char *to, std::size_t size, std::size_t room),
                  (int, const char *, char *, std::size_t, std::size_t),
                  (folder, path, to, size, room))
