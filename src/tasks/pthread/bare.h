// SPDX-License-Identifier: Apache-2.0
// The functions that this room and tasks/libc stand in front of, as they are without them: those of
// the next object in the loader's order, which is libc or a tool in front of libc.
#pragma once

#include <aio.h>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

namespace sennit::pthread {

// Those of tasks/libc, which may block for a file, another process or the time.
// X(result, name, (parameters), (arguments))
#define SENNIT_BARE_CALLS(X)                                                                       \
    X(unsigned, sleep, (unsigned a), (a))                                                          \
    X(int, usleep, (useconds_t a), (a))                                                            \
    X(int, nanosleep, (const timespec *a, timespec *b), (a, b))                                    \
    X(int, clock_nanosleep, (clockid_t a, int b, const timespec *c, timespec *d), (a, b, c, d))    \
    X(int, thrd_sleep, (const timespec *a, timespec *b), (a, b))                                   \
    X(ssize_t, read, (int a, void *b, std::size_t c), (a, b, c))                                   \
    X(ssize_t, __read_chk, (int a, void *b, std::size_t c, std::size_t d), (a, b, c, d))           \
    X(ssize_t, write, (int a, const void *b, std::size_t c), (a, b, c))                            \
    X(ssize_t, readv, (int a, const iovec *b, int c), (a, b, c))                                   \
    X(ssize_t, writev, (int a, const iovec *b, int c), (a, b, c))                                  \
    X(ssize_t, pread, (int a, void *b, std::size_t c, off_t d), (a, b, c, d))                      \
    X(ssize_t, pread64, (int a, void *b, std::size_t c, off_t d), (a, b, c, d))                    \
    X(ssize_t, __pread_chk, (int a, void *b, std::size_t c, off_t d, std::size_t e),               \
      (a, b, c, d, e))                                                                             \
    X(ssize_t, __pread64_chk, (int a, void *b, std::size_t c, off_t d, std::size_t e),             \
      (a, b, c, d, e))                                                                             \
    X(ssize_t, pwrite, (int a, const void *b, std::size_t c, off_t d), (a, b, c, d))               \
    X(ssize_t, pwrite64, (int a, const void *b, std::size_t c, off_t d), (a, b, c, d))             \
    X(ssize_t, preadv, (int a, const iovec *b, int c, off_t d), (a, b, c, d))                      \
    X(ssize_t, preadv64, (int a, const iovec *b, int c, off_t d), (a, b, c, d))                    \
    X(ssize_t, pwritev, (int a, const iovec *b, int c, off_t d), (a, b, c, d))                     \
    X(ssize_t, pwritev64, (int a, const iovec *b, int c, off_t d), (a, b, c, d))                   \
    X(int, fsync, (int a), (a))                                                                    \
    X(int, fdatasync, (int a), (a))                                                                \
    X(int, open, (const char *a, int b, mode_t c), (a, b, c))                                      \
    X(int, open64, (const char *a, int b, mode_t c), (a, b, c))                                    \
    X(int, __open_2, (const char *a, int b), (a, b))                                               \
    X(int, __open64_2, (const char *a, int b), (a, b))                                             \
    X(int, openat, (int a, const char *b, int c, mode_t d), (a, b, c, d))                          \
    X(int, openat64, (int a, const char *b, int c, mode_t d), (a, b, c, d))                        \
    X(int, __openat_2, (int a, const char *b, int c), (a, b, c))                                   \
    X(int, __openat64_2, (int a, const char *b, int c), (a, b, c))                                 \
    X(ssize_t, recv, (int a, void *b, std::size_t c, int d), (a, b, c, d))                         \
    X(ssize_t, __recv_chk, (int a, void *b, std::size_t c, std::size_t d, int e), (a, b, c, d, e)) \
    X(ssize_t, recvfrom, (int a, void *b, std::size_t c, int d, sockaddr *e, socklen_t *f),        \
      (a, b, c, d, e, f))                                                                          \
    X(ssize_t, __recvfrom_chk,                                                                     \
      (int a, void *b, std::size_t c, std::size_t d, int e, sockaddr *f, socklen_t *g),            \
      (a, b, c, d, e, f, g))                                                                       \
    X(ssize_t, recvmsg, (int a, msghdr *b, int c), (a, b, c))                                      \
    X(ssize_t, send, (int a, const void *b, std::size_t c, int d), (a, b, c, d))                   \
    X(ssize_t, sendto,                                                                             \
      (int a, const void *b, std::size_t c, int d, const sockaddr *e, socklen_t f),                \
      (a, b, c, d, e, f))                                                                          \
    X(ssize_t, sendmsg, (int a, const msghdr *b, int c), (a, b, c))                                \
    X(int, accept, (int a, sockaddr *b, socklen_t *c), (a, b, c))                                  \
    X(int, accept4, (int a, sockaddr *b, socklen_t *c, int d), (a, b, c, d))                       \
    X(int, connect, (int a, const sockaddr *b, socklen_t c), (a, b, c))                            \
    X(int, poll, (pollfd * a, nfds_t b, int c), (a, b, c))                                         \
    X(int, __poll_chk, (pollfd * a, nfds_t b, int c, std::size_t d), (a, b, c, d))                 \
    X(int, ppoll, (pollfd * a, nfds_t b, const timespec *c, const sigset_t *d), (a, b, c, d))      \
    X(int, __ppoll_chk,                                                                            \
      (pollfd * a, nfds_t b, const timespec *c, const sigset_t *d, std::size_t e),                 \
      (a, b, c, d, e))                                                                             \
    X(int, select, (int a, fd_set *b, fd_set *c, fd_set *d, timeval *e), (a, b, c, d, e))          \
    X(int, pselect,                                                                                \
      (int a, fd_set *b, fd_set *c, fd_set *d, const timespec *e, const sigset_t *f),              \
      (a, b, c, d, e, f))                                                                          \
    X(int, epoll_wait, (int a, epoll_event *b, int c, int d), (a, b, c, d))                        \
    X(int, epoll_pwait, (int a, epoll_event *b, int c, int d, const sigset_t *e), (a, b, c, d, e)) \
    X(int, tcdrain, (int a), (a))                                                                  \
    X(pid_t, wait, (int *a), (a))                                                                  \
    X(pid_t, waitpid, (pid_t a, int *b, int c), (a, b, c))                                         \
    X(pid_t, wait4, (pid_t a, int *b, int c, rusage *d), (a, b, c, d))                             \
    X(int, waitid, (idtype_t a, id_t b, siginfo_t * c, int d), (a, b, c, d))                       \
    X(int, sigtimedwait, (const sigset_t *a, siginfo_t *b, const timespec *c), (a, b, c))          \
    X(int, flock, (int a, int b), (a, b))                                                          \
    X(int, pclose, (FILE * a), (a))                                                                \
    X(int, getaddrinfo, (const char *a, const char *b, const addrinfo *c, addrinfo **d),           \
      (a, b, c, d))                                                                                \
    X(int, getnameinfo,                                                                            \
      (const sockaddr *a, socklen_t b, char *c, socklen_t d, char *e, socklen_t f, int g),         \
      (a, b, c, d, e, f, g))                                                                       \
    X(int, gethostbyname_r,                                                                        \
      (const char *a, hostent *b, char *c, std::size_t d, hostent **e, int *f),                    \
      (a, b, c, d, e, f))                                                                          \
    X(int, gethostbyname2_r,                                                                       \
      (const char *a, int b, hostent *c, char *d, std::size_t e, hostent **f, int *g),             \
      (a, b, c, d, e, f, g))                                                                       \
    X(int, gethostbyaddr_r,                                                                        \
      (const void *a, socklen_t b, int c, hostent *d, char *e, std::size_t f, hostent **g,         \
       int *h),                                                                                    \
      (a, b, c, d, e, f, g, h))

// The same, of those that few programs make. Each is found at its first call, which keeps the start
// short. Older libcs have some in another library, or not at all: a program that makes the call has
// it, and to look for a name in vain may ask an allocator for memory which is about to call us.
// None may be called by a signal handler, but aio_suspend.
#define SENNIT_BARE_LATE(X)                                                                        \
    X(ssize_t, preadv2, (int a, const iovec *b, int c, off_t d, int e), (a, b, c, d, e))           \
    X(ssize_t, preadv64v2, (int a, const iovec *b, int c, off_t d, int e), (a, b, c, d, e))        \
    X(ssize_t, pwritev2, (int a, const iovec *b, int c, off_t d, int e), (a, b, c, d, e))          \
    X(ssize_t, pwritev64v2, (int a, const iovec *b, int c, off_t d, int e), (a, b, c, d, e))       \
    X(int, syncfs, (int a), (a))                                                                   \
    X(int, sync_file_range, (int a, off64_t b, off64_t c, unsigned d), (a, b, c, d))               \
    X(int, msync, (void *a, std::size_t b, int c), (a, b, c))                                      \
    X(int, fallocate, (int a, int b, off_t c, off_t d), (a, b, c, d))                              \
    X(int, fallocate64, (int a, int b, off_t c, off_t d), (a, b, c, d))                            \
    X(int, posix_fallocate, (int a, off_t b, off_t c), (a, b, c))                                  \
    X(int, posix_fallocate64, (int a, off_t b, off_t c), (a, b, c))                                \
    X(ssize_t, copy_file_range, (int a, off64_t *b, int c, off64_t *d, std::size_t e, unsigned f), \
      (a, b, c, d, e, f))                                                                          \
    X(ssize_t, sendfile, (int a, int b, off_t *c, std::size_t d), (a, b, c, d))                    \
    X(ssize_t, sendfile64, (int a, int b, off_t *c, std::size_t d), (a, b, c, d))                  \
    X(ssize_t, splice, (int a, off64_t *b, int c, off64_t *d, std::size_t e, unsigned f),          \
      (a, b, c, d, e, f))                                                                          \
    X(ssize_t, tee, (int a, int b, std::size_t c, unsigned d), (a, b, c, d))                       \
    X(ssize_t, vmsplice, (int a, const iovec *b, std::size_t c, unsigned d), (a, b, c, d))         \
    X(int, eventfd_read, (int a, eventfd_t *b), (a, b))                                            \
    X(int, eventfd_write, (int a, eventfd_t b), (a, b))                                            \
    X(int, recvmmsg, (int a, mmsghdr *b, unsigned c, int d, timespec *e), (a, b, c, d, e))         \
    X(int, sendmmsg, (int a, mmsghdr *b, unsigned c, int d), (a, b, c, d))                         \
    X(pid_t, wait3, (int *a, int b, rusage *c), (a, b, c))                                         \
    X(int, sigwait, (const sigset_t *a, int *b), (a, b))                                           \
    X(int, sigwaitinfo, (const sigset_t *a, siginfo_t *b), (a, b))                                 \
    X(int, lockf, (int a, int b, off_t c), (a, b, c))                                              \
    X(int, lockf64, (int a, int b, off_t c), (a, b, c))                                            \
    X(ssize_t, msgrcv, (int a, void *b, std::size_t c, long d, int e), (a, b, c, d, e))            \
    X(int, msgsnd, (int a, const void *b, std::size_t c, int d), (a, b, c, d))                     \
    X(int, semop, (int a, sembuf *b, std::size_t c), (a, b, c))                                    \
    X(int, semtimedop, (int a, sembuf *b, std::size_t c, const timespec *d), (a, b, c, d))         \
    X(ssize_t, mq_receive, (mqd_t a, char *b, std::size_t c, unsigned *d), (a, b, c, d))           \
    X(ssize_t, mq_timedreceive, (mqd_t a, char *b, std::size_t c, unsigned *d, const timespec *e), \
      (a, b, c, d, e))                                                                             \
    X(int, mq_send, (mqd_t a, const char *b, std::size_t c, unsigned d), (a, b, c, d))             \
    X(int, mq_timedsend, (mqd_t a, const char *b, std::size_t c, unsigned d, const timespec *e),   \
      (a, b, c, d, e))                                                                             \
    X(int, aio_suspend, (const aiocb *const a[], int b, const timespec *c), (a, b, c))             \
    X(int, aio_suspend64, (const aiocb *const a[], int b, const timespec *c), (a, b, c))

// Those that do so only where the program has a pipe, a terminal or the like behind a FILE, and
// system(). Most programs with tasks have some of them, and none of the former.
#define SENNIT_BARE_STREAMS(X)                                                                     \
    X(FILE *, fopen, (const char *a, const char *b), (a, b))                                       \
    X(FILE *, fopen64, (const char *a, const char *b), (a, b))                                     \
    X(FILE *, freopen, (const char *a, const char *b, FILE *c), (a, b, c))                         \
    X(FILE *, freopen64, (const char *a, const char *b, FILE *c), (a, b, c))                       \
    X(int, fcntl, (int a, int b, void *c), (a, b, c))                                              \
    X(int, fcntl64, (int a, int b, void *c), (a, b, c))                                            \
    X(int, system, (const char *a), (a))                                                           \
    X(int, getc, (FILE * a), (a))                                                                  \
    X(int, fgetc, (FILE * a), (a))                                                                 \
    X(int, getchar, (), ())                                                                        \
    X(char *, fgets, (char *a, int b, FILE *c), (a, b, c))                                         \
    X(char *, __fgets_chk, (char *a, std::size_t b, int c, FILE *d), (a, b, c, d))                 \
    X(ssize_t, getline, (char **a, std::size_t *b, FILE *c), (a, b, c))                            \
    X(ssize_t, getdelim, (char **a, std::size_t *b, int c, FILE *d), (a, b, c, d))                 \
    X(ssize_t, __getdelim, (char **a, std::size_t *b, int c, FILE *d), (a, b, c, d))               \
    X(std::size_t, fread, (void *a, std::size_t b, std::size_t c, FILE *d), (a, b, c, d))          \
    X(std::size_t, __fread_chk, (void *a, std::size_t b, std::size_t c, std::size_t d, FILE *e),   \
      (a, b, c, d, e))                                                                             \
    X(int, vfscanf, (FILE * a, const char *b, va_list c), (a, b, c))                               \
    X(int, __isoc99_vfscanf, (FILE * a, const char *b, va_list c), (a, b, c))                      \
    X(int, vscanf, (const char *a, va_list b), (a, b))                                             \
    X(int, __isoc99_vscanf, (const char *a, va_list b), (a, b))                                    \
    X(int, __isoc23_vfscanf, (FILE * a, const char *b, va_list c), (a, b, c))                      \
    X(int, __isoc23_vscanf, (const char *a, va_list b), (a, b))

// X as above.
#define SENNIT_BARE_FUNCTIONS(X)                                                                   \
    X(int, pthread_mutex_lock, (pthread_mutex_t * a), (a))                                         \
    X(int, pthread_mutex_trylock, (pthread_mutex_t * a), (a))                                      \
    X(int, pthread_mutex_clocklock, (pthread_mutex_t * a, clockid_t b, const timespec *c),         \
      (a, b, c))                                                                                   \
    X(int, pthread_mutex_timedlock, (pthread_mutex_t * a, const timespec *b), (a, b))              \
    X(int, pthread_mutex_unlock, (pthread_mutex_t * a), (a))                                       \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t * a), (a))                                     \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t * a), (a))                                     \
    X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * a), (a))                                  \
    X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * a), (a))                                  \
    X(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t * a, clockid_t b, const timespec *c),     \
      (a, b, c))                                                                                   \
    X(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t * a, clockid_t b, const timespec *c),     \
      (a, b, c))                                                                                   \
    X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * a, const timespec *b), (a, b))          \
    X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * a, const timespec *b), (a, b))          \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t * a), (a))                                     \
    X(int, pthread_cond_wait, (pthread_cond_t * a, pthread_mutex_t * b), (a, b))                   \
    X(int, pthread_cond_timedwait, (pthread_cond_t * a, pthread_mutex_t * b, const timespec *c),   \
      (a, b, c))                                                                                   \
    X(int, pthread_cond_clockwait,                                                                 \
      (pthread_cond_t * a, pthread_mutex_t * b, clockid_t c, const timespec *d), (a, b, c, d))     \
    X(int, pthread_cond_signal, (pthread_cond_t * a), (a))                                         \
    X(int, pthread_cond_broadcast, (pthread_cond_t * a), (a))                                      \
    X(int, sem_wait, (sem_t * a), (a))                                                             \
    X(int, sem_trywait, (sem_t * a), (a))                                                          \
    X(int, sem_timedwait, (sem_t * a, const timespec *b), (a, b))                                  \
    X(int, sem_clockwait, (sem_t * a, clockid_t b, const timespec *c), (a, b, c))                  \
    X(int, sem_post, (sem_t * a), (a))                                                             \
    X(int, pthread_spin_lock, (pthread_spinlock_t * a), (a))                                       \
    X(int, pthread_spin_trylock, (pthread_spinlock_t * a), (a))                                    \
    X(int, pthread_join, (pthread_t a, void **b), (a, b))                                          \
    X(int, pthread_tryjoin_np, (pthread_t a, void **b), (a, b))                                    \
    X(int, pthread_timedjoin_np, (pthread_t a, void **b, const timespec *c), (a, b, c))            \
    X(int, pthread_clockjoin_np, (pthread_t a, void **b, clockid_t c, const timespec *d),          \
      (a, b, c, d))                                                                                \
    X(int, pthread_barrier_wait, (pthread_barrier_t * a), (a))                                     \
    X(int, pthread_barrier_destroy, (pthread_barrier_t * a), (a))                                  \
    X(int, pthread_once, (pthread_once_t * a, void (*b)()), (a, b))                                \
    X(int, sched_setaffinity, (pid_t a, std::size_t b, const cpu_set_t *c), (a, b, c))             \
    X(int, pthread_setaffinity_np, (pthread_t a, std::size_t b, const cpu_set_t *c), (a, b, c))    \
    X(long, syscall, (long a, long b, long c, long d, long e, long f, long g),                     \
      (a, b, c, d, e, f, g))                                                                       \
    SENNIT_BARE_CALLS(X)                                                                           \
    SENNIT_BARE_STREAMS(X)

// Found at the first call of any of them, but for the late ones: libraries call them before our
// constructors run.
struct Bare {
#define SENNIT_BARE(result, name, parameters, arguments) result(*name) parameters;
    SENNIT_BARE_FUNCTIONS(SENNIT_BARE)
    SENNIT_BARE_LATE(SENNIT_BARE)
#undef SENNIT_BARE
};
extern Bare bare;
void find_bare(); // now
// Waits until a time of any clock came with glibc 2.30, and pthread_clockjoin_np with 2.31. With an
// older one they are made of those that it has (clock_calls.cpp). Null: the name is none of these.
void *made_of_older_calls(const char *name);
// Do libraries find our function of this name, not that of a tool in front of us?
bool is_first(const char *name);

// Libraries in which no task is ever suspended. They hold nothing across a suspension, so they need
// none of our mutexes, whose calls cost more.

// Those that are loaded, and of which `library` is true, call libc's functions again where they
// called ours. Any time, any thread.
void leave_alone(bool (*library)(const char *path));

} // namespace sennit::pthread
