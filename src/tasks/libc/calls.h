// SPDX-License-Identifier: Apache-2.0
// The calls, as the functions of libc that they are named after; `caller` is the address that they
// return to. waits.h says when they suspend the task. Each is first tried without blocking.
//
// A signal handler without SA_RESTART that runs while the thread sleeps ends such a call with
// EINTR. Where a task runs on the thread meanwhile, the handler interrupts that one, as in a
// program that has a thread for each task.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

struct rusage;

namespace sennit::libc {

// ---- time.cpp
// Returns an error number.
int clock_nanosleep(clockid_t clock, int flags, const timespec *time, timespec *left,
                    const void *caller);
int nanosleep(const timespec *time, timespec *left, const void *caller);
int thrd_sleep(const timespec *time, timespec *left, const void *caller);
int usleep(unsigned us, const void *caller);
unsigned sleep(unsigned seconds, const void *caller);

// ---- files.cpp
ssize_t read(int file, void *bytes, std::size_t size, const void *caller);
ssize_t write(int file, const void *bytes, std::size_t size, const void *caller);
ssize_t readv(int file, const iovec *vectors, int count, const void *caller);
ssize_t writev(int file, const iovec *vectors, int count, const void *caller);
ssize_t recv(int file, void *bytes, std::size_t size, int flags, const void *caller);
ssize_t recvfrom(int file, void *bytes, std::size_t size, int flags, sockaddr *from,
                 socklen_t *length, const void *caller);
ssize_t recvmsg(int file, msghdr *message, int flags, const void *caller);
ssize_t send(int file, const void *bytes, std::size_t size, int flags, const void *caller);
ssize_t sendto(int file, const void *bytes, std::size_t size, int flags, const sockaddr *to,
               socklen_t length, const void *caller);
ssize_t sendmsg(int file, const msghdr *message, int flags, const void *caller);
int accept(int file, sockaddr *from, socklen_t *length, const void *caller);
int accept4(int file, sockaddr *from, socklen_t *length, int flags, const void *caller);
int connect(int file, const sockaddr *to, socklen_t length, const void *caller);

// ---- disks.cpp
ssize_t pread(int file, void *bytes, std::size_t size, off_t at, const void *caller);
ssize_t pwrite(int file, const void *bytes, std::size_t size, off_t at, const void *caller);
ssize_t preadv(int file, const iovec *vectors, int count, off_t at, const void *caller);
ssize_t pwritev(int file, const iovec *vectors, int count, off_t at, const void *caller);
int fsync(int file, const void *caller);
int fdatasync(int file, const void *caller);
int openat(int folder, const char *path, int flags, mode_t mode, const void *caller);
int open(const char *path, int flags, mode_t mode, const void *caller);

// Where off_t has 64 bits, the other names of the same.
inline ssize_t pread64(int file, void *bytes, std::size_t size, off_t at, const void *caller) {
    return libc::pread(file, bytes, size, at, caller);
}
inline ssize_t pwrite64(int file, const void *bytes, std::size_t size, off_t at,
                        const void *caller) {
    return libc::pwrite(file, bytes, size, at, caller);
}
inline ssize_t preadv64(int file, const iovec *vectors, int count, off_t at, const void *caller) {
    return libc::preadv(file, vectors, count, at, caller);
}
inline ssize_t pwritev64(int file, const iovec *vectors, int count, off_t at, const void *caller) {
    return libc::pwritev(file, vectors, count, at, caller);
}
inline int openat64(int folder, const char *path, int flags, mode_t mode, const void *caller) {
    return libc::openat(folder, path, flags, mode, caller);
}
inline int open64(const char *path, int flags, mode_t mode, const void *caller) {
    return libc::open(path, flags, mode, caller);
}

// ---- streams.cpp
int getc(FILE *stream, const void *caller);
inline int fgetc(FILE *stream, const void *caller) {
    return libc::getc(stream, caller);
}
inline int getchar(const void *caller) {
    return libc::getc(stdin, caller);
}
char *fgets(char *bytes, int size, FILE *stream, const void *caller);
ssize_t getdelim(char **line, std::size_t *size, int delimiter, FILE *stream, const void *caller);
inline ssize_t __getdelim(char **line, std::size_t *size, int delimiter, FILE *stream,
                          const void *caller) {
    return libc::getdelim(line, size, delimiter, stream, caller);
}
inline ssize_t getline(char **line, std::size_t *size, FILE *stream, const void *caller) {
    return libc::getdelim(line, size, '\n', stream, caller);
}
std::size_t fread(void *items, std::size_t size, std::size_t count, FILE *stream,
                  const void *caller);
// Which of libc's functions it is: they read some formats differently.
enum class Scan : std::uint8_t { gnu, c99, c23 };
int vfscanf(Scan scan, FILE *stream, const char *format, va_list arguments, const void *caller);

// ---- many.cpp: one of several files
int poll(pollfd *files, nfds_t count, int ms, const void *caller);
int ppoll(pollfd *files, nfds_t count, const timespec *time, const sigset_t *mask,
          const void *caller);
int select(int count, fd_set *in, fd_set *out, fd_set *errors, timeval *time, const void *caller);
int pselect(int count, fd_set *in, fd_set *out, fd_set *errors, const timespec *time,
            const sigset_t *mask, const void *caller);
int epoll_wait(int set, epoll_event *events, int most, int ms, const void *caller);
int epoll_pwait(int set, epoll_event *events, int most, int ms, const sigset_t *mask,
                const void *caller);

// ---- processes.cpp
pid_t wait4(pid_t child, int *status, int options, rusage *usage, const void *caller);
inline pid_t waitpid(pid_t child, int *status, int options, const void *caller) {
    return libc::wait4(child, status, options, nullptr, caller);
}
inline pid_t wait(int *status, const void *caller) {
    return libc::wait4(-1, status, 0, nullptr, caller);
}
int waitid(idtype_t type, id_t id, siginfo_t *info, int options, const void *caller);
int flock(int file, int operation, const void *caller);
int system(const char *command, const void *caller);
int pclose(FILE *stream, const void *caller);

// ---- names.cpp
int getaddrinfo(const char *host, const char *service, const addrinfo *hints, addrinfo **result,
                const void *caller);
int getnameinfo(const sockaddr *address, socklen_t length, char *host, socklen_t host_size,
                char *service, socklen_t service_size, int flags, const void *caller);
int gethostbyname_r(const char *host, hostent *result, char *buffer, std::size_t size,
                    hostent **found, int *error, const void *caller);
int gethostbyname2_r(const char *host, int family, hostent *result, char *buffer, std::size_t size,
                     hostent **found, int *error, const void *caller);
int gethostbyaddr_r(const void *address, socklen_t length, int family, hostent *result,
                    char *buffer, std::size_t size, hostent **found, int *error,
                    const void *caller);

} // namespace sennit::libc
