// SPDX-License-Identifier: Apache-2.0
// The names under which programs and libraries find this room's functions: libc's. In the library
// only, as those of tasks/pthread.
#include "tasks/libc/exports/interpose.h"

#include <fcntl.h>

INTERPOSE(unsigned, sleep, (unsigned seconds), seconds)
INTERPOSE(int, usleep, (useconds_t us), us)
INTERPOSE(int, nanosleep, (const timespec *time, timespec *left), time, left)
INTERPOSE(int, clock_nanosleep, (clockid_t clock, int flags, const timespec *time, timespec *left),
          clock, flags, time, left)
INTERPOSE(int, thrd_sleep, (const timespec *time, timespec *left), time, left)

INTERPOSE(ssize_t, read, (int file, void *bytes, std::size_t size), file, bytes, size)
INTERPOSE(ssize_t, write, (int file, const void *bytes, std::size_t size), file, bytes, size)
INTERPOSE(ssize_t, readv, (int file, const iovec *vectors, int count), file, vectors, count)
INTERPOSE(ssize_t, writev, (int file, const iovec *vectors, int count), file, vectors, count)

INTERPOSE_64(ssize_t, pread, (int file, void *bytes, std::size_t size, off_t at), file, bytes, size,
             at)
INTERPOSE_64(ssize_t, pwrite, (int file, const void *bytes, std::size_t size, off_t at), file,
             bytes, size, at)
INTERPOSE_64(ssize_t, preadv, (int file, const iovec *vectors, int count, off_t at), file, vectors,
             count, at)
INTERPOSE_64(ssize_t, pwritev, (int file, const iovec *vectors, int count, off_t at), file, vectors,
             count, at)
#define INTERPOSE_V2(result, name, parameters, ...)                                                \
    INTERPOSE(result, name##2, parameters, __VA_ARGS__)                                            \
    INTERPOSE(result, name##64v2, parameters, __VA_ARGS__)
INTERPOSE_V2(ssize_t, preadv, (int file, const iovec *vectors, int count, off_t at, int flags),
             file, vectors, count, at, flags)
INTERPOSE_V2(ssize_t, pwritev, (int file, const iovec *vectors, int count, off_t at, int flags),
             file, vectors, count, at, flags)
INTERPOSE(int, fsync, (int file), file)
INTERPOSE(int, fdatasync, (int file), file)
INTERPOSE(int, syncfs, (int file), file)
INTERPOSE(int, sync_file_range, (int file, off_t at, off_t size, unsigned flags), file, at, size,
          flags)
INTERPOSE(int, msync, (void *bytes, std::size_t size, int flags), bytes, size, flags)
INTERPOSE_64(int, fallocate, (int file, int mode, off_t at, off_t size), file, mode, at, size)
INTERPOSE_64(int, posix_fallocate, (int file, off_t at, off_t size), file, at, size)
INTERPOSE_64(int, aio_suspend, (const aiocb *const calls[], int count, const timespec *time), calls,
             count, time)
// The mode is there only if a file may be made: what is passed on else, nobody looks at.
INTERPOSE_64(int, open, (const char *path, int flags, mode_t mode), path, flags, mode)
INTERPOSE_64(int, openat, (int folder, const char *path, int flags, mode_t mode), folder, path,
             flags, mode)

INTERPOSE(ssize_t, recv, (int file, void *bytes, std::size_t size, int flags), file, bytes, size,
          flags)
INTERPOSE(ssize_t, recvfrom,
          (int file, void *bytes, std::size_t size, int flags, sockaddr *from, socklen_t *length),
          file, bytes, size, flags, from, length)
INTERPOSE(ssize_t, recvmsg, (int file, msghdr *message, int flags), file, message, flags)
INTERPOSE(ssize_t, send, (int file, const void *bytes, std::size_t size, int flags), file, bytes,
          size, flags)
INTERPOSE(ssize_t, sendto,
          (int file, const void *bytes, std::size_t size, int flags, const sockaddr *to,
           socklen_t length),
          file, bytes, size, flags, to, length)
INTERPOSE(ssize_t, sendmsg, (int file, const msghdr *message, int flags), file, message, flags)
INTERPOSE(int, accept, (int file, sockaddr *from, socklen_t *length), file, from, length)
INTERPOSE(int, accept4, (int file, sockaddr *from, socklen_t *length, int flags), file, from,
          length, flags)
INTERPOSE(int, connect, (int file, const sockaddr *to, socklen_t length), file, to, length)
INTERPOSE(int, recvmmsg, (int file, mmsghdr *messages, unsigned count, int flags, timespec *time),
          file, messages, count, flags, time)
INTERPOSE(int, sendmmsg, (int file, mmsghdr *messages, unsigned count, int flags), file, messages,
          count, flags)
INTERPOSE(int, eventfd_read, (int file, eventfd_t *value), file, value)
INTERPOSE(int, eventfd_write, (int file, eventfd_t value), file, value)

INTERPOSE(ssize_t, copy_file_range,
          (int in, off_t *from, int out, off_t *to, std::size_t size, unsigned flags), in, from,
          out, to, size, flags)
INTERPOSE_64(ssize_t, sendfile, (int out, int in, off_t *from, std::size_t size), out, in, from,
             size)
INTERPOSE(ssize_t, splice,
          (int in, off_t *from, int out, off_t *to, std::size_t size, unsigned flags), in, from,
          out, to, size, flags)
INTERPOSE(ssize_t, tee, (int in, int out, std::size_t size, unsigned flags), in, out, size, flags)
INTERPOSE(ssize_t, vmsplice, (int file, const iovec *vectors, std::size_t count, unsigned flags),
          file, vectors, count, flags)
INTERPOSE(int, tcdrain, (int file), file)

INTERPOSE(ssize_t, mq_receive, (mqd_t queue, char *bytes, std::size_t size, unsigned *priority),
          queue, bytes, size, priority)
INTERPOSE(ssize_t, mq_timedreceive,
          (mqd_t queue, char *bytes, std::size_t size, unsigned *priority, const timespec *time),
          queue, bytes, size, priority, time)
INTERPOSE(int, mq_send, (mqd_t queue, const char *bytes, std::size_t size, unsigned priority),
          queue, bytes, size, priority)
INTERPOSE(int, mq_timedsend,
          (mqd_t queue, const char *bytes, std::size_t size, unsigned priority,
           const timespec *time),
          queue, bytes, size, priority, time)
INTERPOSE(ssize_t, msgrcv, (int queue, void *message, std::size_t size, long type, int flags),
          queue, message, size, type, flags)
INTERPOSE(int, msgsnd, (int queue, const void *message, std::size_t size, int flags), queue,
          message, size, flags)
INTERPOSE(int, semop, (int set, sembuf *operations, std::size_t count), set, operations, count)
INTERPOSE(int, semtimedop, (int set, sembuf *operations, std::size_t count, const timespec *time),
          set, operations, count, time)

INTERPOSE(int, poll, (pollfd * files, nfds_t count, int ms), files, count, ms)
INTERPOSE(int, ppoll, (pollfd * files, nfds_t count, const timespec *time, const sigset_t *mask),
          files, count, time, mask)
INTERPOSE(int, select, (int count, fd_set *in, fd_set *out, fd_set *errors, timeval *time), count,
          in, out, errors, time)
INTERPOSE(int, pselect,
          (int count, fd_set *in, fd_set *out, fd_set *errors, const timespec *time,
           const sigset_t *mask),
          count, in, out, errors, time, mask)
INTERPOSE(int, epoll_wait, (int set, epoll_event *events, int most, int ms), set, events, most, ms)
INTERPOSE(int, epoll_pwait, (int set, epoll_event *events, int most, int ms, const sigset_t *mask),
          set, events, most, ms, mask)

INTERPOSE(pid_t, wait, (int *status), status)
INTERPOSE(pid_t, waitpid, (pid_t child, int *status, int options), child, status, options)
INTERPOSE(pid_t, wait3, (int *status, int options, rusage *usage), status, options, usage)
INTERPOSE(pid_t, wait4, (pid_t child, int *status, int options, rusage *usage), child, status,
          options, usage)
INTERPOSE(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), type, id, info,
          options)
INTERPOSE(int, sigwait, (const sigset_t *signals, int *signal), signals, signal)
INTERPOSE(int, sigwaitinfo, (const sigset_t *signals, siginfo_t *info), signals, info)
INTERPOSE(int, sigtimedwait, (const sigset_t *signals, siginfo_t *info, const timespec *time),
          signals, info, time)
INTERPOSE(int, flock, (int file, int operation), file, operation)
// The argument is there only for some commands, and an int or a pointer.
INTERPOSE_64(int, fcntl, (int file, int command, void *argument), file, command, argument)
INTERPOSE_64(int, lockf, (int file, int command, off_t size), file, command, size)

// ---- with _FORTIFY_SOURCE ---------------------------------------------------------------------

INTERPOSE_CHECKED(ssize_t, __read_chk, (int file, void *bytes, std::size_t size, std::size_t room),
                  (file, bytes, size, room), size <= room, libc::read(file, bytes, size, CALLER))
#define INTERPOSE_PREAD_CHECKED(name)                                                              \
    INTERPOSE_CHECKED(                                                                             \
        ssize_t, name, (int file, void *bytes, std::size_t size, off_t at, std::size_t room),      \
        (file, bytes, size, at, room), size <= room, libc::pread(file, bytes, size, at, CALLER))
INTERPOSE_PREAD_CHECKED(__pread_chk)
INTERPOSE_PREAD_CHECKED(__pread64_chk)

// Without a mode: libc ends the program for flags that need one.
constexpr bool needs_mode(int flags) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}
#define INTERPOSE_OPEN_CHECKED(name)                                                               \
    INTERPOSE_CHECKED(int, name, (const char *path, int flags), (path, flags), !needs_mode(flags), \
                      libc::open(path, flags, 0, CALLER))
INTERPOSE_OPEN_CHECKED(__open_2)
INTERPOSE_OPEN_CHECKED(__open64_2)
#define INTERPOSE_OPENAT_CHECKED(name)                                                             \
    INTERPOSE_CHECKED(int, name, (int folder, const char *path, int flags), (folder, path, flags), \
                      !needs_mode(flags), libc::openat(folder, path, flags, 0, CALLER))
INTERPOSE_OPENAT_CHECKED(__openat_2)
INTERPOSE_OPENAT_CHECKED(__openat64_2)
INTERPOSE_CHECKED(ssize_t, __recv_chk,
                  (int file, void *bytes, std::size_t size, std::size_t room, int flags),
                  (file, bytes, size, room, flags), size <= room,
                  libc::recv(file, bytes, size, flags, CALLER))
INTERPOSE_CHECKED(ssize_t, __recvfrom_chk,
                  (int file, void *bytes, std::size_t size, std::size_t room, int flags,
                   sockaddr *from, socklen_t *length),
                  (file, bytes, size, room, flags, from, length), size <= room,
                  libc::recvfrom(file, bytes, size, flags, from, length, CALLER))
INTERPOSE_CHECKED(int, __poll_chk, (pollfd * files, nfds_t count, int ms, std::size_t room),
                  (files, count, ms, room), count <= room / sizeof *files,
                  libc::poll(files, count, ms, CALLER))
INTERPOSE_CHECKED(int, __ppoll_chk,
                  (pollfd * files, nfds_t count, const timespec *time, const sigset_t *mask,
                   std::size_t room),
                  (files, count, time, mask, room), count <= room / sizeof *files,
                  libc::ppoll(files, count, time, mask, CALLER))

// ---- the runtime's own calls, see src/CMakeLists.txt -------------------------------------------

#define SENNIT_OWN(result, name, parameters, arguments)                                            \
    extern "C" [[gnu::visibility("hidden")]] result __wrap_##name parameters;                      \
    result __wrap_##name parameters {                                                              \
        return bare.name arguments;                                                                \
    }
SENNIT_BARE_CALLS(SENNIT_OWN)
SENNIT_BARE_LATE(SENNIT_OWN)
SENNIT_BARE_STREAMS(SENNIT_OWN)
#undef SENNIT_OWN
