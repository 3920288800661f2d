// SPDX-License-Identifier: Apache-2.0
// The calls, as the functions of libc that they are named after; `caller` is the address that they
// return to. waits.h says when they suspend the task. Each is first tried without blocking.
//
// A signal handler without SA_RESTART that runs while the thread sleeps ends such a call with
// EINTR. Where a task runs on the thread meanwhile, the handler interrupts that one, as in a
// program that has a thread for each task.
#pragma once

#include <aio.h>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/sem.h>
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
int recvmmsg(int file, mmsghdr *messages, unsigned count, int flags, timespec *time,
             const void *caller);
int sendmmsg(int file, mmsghdr *messages, unsigned count, int flags, const void *caller);
inline int eventfd_read(int file, eventfd_t *value, const void *caller) {
    return libc::read(file, value, sizeof *value, caller) == sizeof *value ? 0 : -1;
}
inline int eventfd_write(int file, eventfd_t value, const void *caller) {
    return libc::write(file, &value, sizeof value, caller) == sizeof value ? 0 : -1;
}

// ---- disks.cpp
ssize_t pread(int file, void *bytes, std::size_t size, off_t at, const void *caller);
ssize_t pwrite(int file, const void *bytes, std::size_t size, off_t at, const void *caller);
ssize_t preadv(int file, const iovec *vectors, int count, off_t at, const void *caller);
ssize_t pwritev(int file, const iovec *vectors, int count, off_t at, const void *caller);
ssize_t preadv2(int file, const iovec *vectors, int count, off_t at, int flags, const void *caller);
ssize_t pwritev2(int file, const iovec *vectors, int count, off_t at, int flags,
                 const void *caller);
int fsync(int file, const void *caller);
int fdatasync(int file, const void *caller);
int syncfs(int file, const void *caller);
int sync_file_range(int file, off_t at, off_t size, unsigned flags, const void *caller);
int msync(void *bytes, std::size_t size, int flags, const void *caller);
int fallocate(int file, int mode, off_t at, off_t size, const void *caller);
// Returns an error number.
int posix_fallocate(int file, off_t at, off_t size, const void *caller);
int aio_suspend(const aiocb *const calls[], int count, const timespec *time, const void *caller);
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
inline ssize_t preadv64v2(int file, const iovec *vectors, int count, off_t at, int flags,
                          const void *caller) {
    return libc::preadv2(file, vectors, count, at, flags, caller);
}
inline ssize_t pwritev64v2(int file, const iovec *vectors, int count, off_t at, int flags,
                           const void *caller) {
    return libc::pwritev2(file, vectors, count, at, flags, caller);
}
inline int fallocate64(int file, int mode, off_t at, off_t size, const void *caller) {
    return libc::fallocate(file, mode, at, size, caller);
}
inline int posix_fallocate64(int file, off_t at, off_t size, const void *caller) {
    return libc::posix_fallocate(file, at, size, caller);
}
inline int aio_suspend64(const aiocb *const calls[], int count, const timespec *time,
                         const void *caller) {
    return libc::aio_suspend(calls, count, time, caller);
}
inline int openat64(int folder, const char *path, int flags, mode_t mode, const void *caller) {
    return libc::openat(folder, path, flags, mode, caller);
}
inline int open64(const char *path, int flags, mode_t mode, const void *caller) {
    return libc::open(path, flags, mode, caller);
}

// ---- copies.cpp: from one file to another, or when a terminal has shown all
ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, std::size_t size, unsigned flags,
                        const void *caller);
ssize_t sendfile(int out, int in, off_t *from, std::size_t size, const void *caller);
inline ssize_t sendfile64(int out, int in, off_t *from, std::size_t size, const void *caller) {
    return libc::sendfile(out, in, from, size, caller);
}
ssize_t splice(int in, off_t *from, int out, off_t *to, std::size_t size, unsigned flags,
               const void *caller);
ssize_t tee(int in, int out, std::size_t size, unsigned flags, const void *caller);
ssize_t vmsplice(int file, const iovec *vectors, std::size_t count, unsigned flags,
                 const void *caller);
int tcdrain(int file, const void *caller);

// ---- queues.cpp: POSIX message queues, each of which is a file
ssize_t mq_receive(mqd_t queue, char *bytes, std::size_t size, unsigned *priority,
                   const void *caller);
ssize_t mq_timedreceive(mqd_t queue, char *bytes, std::size_t size, unsigned *priority,
                        const timespec *time, const void *caller);
int mq_send(mqd_t queue, const char *bytes, std::size_t size, unsigned priority,
            const void *caller);
int mq_timedsend(mqd_t queue, const char *bytes, std::size_t size, unsigned priority,
                 const timespec *time, const void *caller);

// ---- streams.cpp
FILE *fopen(const char *path, const char *mode, const void *caller);
inline FILE *fopen64(const char *path, const char *mode, const void *caller) {
    return libc::fopen(path, mode, caller);
}
FILE *freopen(const char *path, const char *mode, FILE *stream, const void *caller);
inline FILE *freopen64(const char *path, const char *mode, FILE *stream, const void *caller) {
    return libc::freopen(path, mode, stream, caller);
}
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
inline pid_t wait3(int *status, int options, rusage *usage, const void *caller) {
    return libc::wait4(-1, status, options, usage, caller);
}
int waitid(idtype_t type, id_t id, siginfo_t *info, int options, const void *caller);
int flock(int file, int operation, const void *caller);
int fcntl(int file, int command, void *argument, const void *caller);
inline int fcntl64(int file, int command, void *argument, const void *caller) {
    return libc::fcntl(file, command, argument, caller);
}
int lockf(int file, int command, off_t size, const void *caller);
inline int lockf64(int file, int command, off_t size, const void *caller) {
    return libc::lockf(file, command, size, caller);
}
int system(const char *command, const void *caller);
int pclose(FILE *stream, const void *caller);

// ---- system_v.cpp: message queues and semaphores
ssize_t msgrcv(int queue, void *message, std::size_t size, long type, int flags,
               const void *caller);
int msgsnd(int queue, const void *message, std::size_t size, int flags, const void *caller);
int semtimedop(int set, sembuf *operations, std::size_t count, const timespec *time,
               const void *caller);
inline int semop(int set, sembuf *operations, std::size_t count, const void *caller) {
    return libc::semtimedop(set, operations, count, nullptr, caller);
}

// ---- signals.cpp
int sigtimedwait(const sigset_t *signals, siginfo_t *info, const timespec *time,
                 const void *caller);
inline int sigwaitinfo(const sigset_t *signals, siginfo_t *info, const void *caller) {
    return libc::sigtimedwait(signals, info, nullptr, caller);
}
// Returns an error number.
int sigwait(const sigset_t *signals, int *signal, const void *caller);

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
