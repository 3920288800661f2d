/* SPDX-License-Identifier: Apache-2.0
 * build: if="not tsan" # tasks wait in TSan's own functions
 * test:
 * docs/user/openmp.md, "Blocking calls of libc": tasks that open, read, write and sync files on
 * disks. Their thread runs other tasks meanwhile. Records, positions, short counts and errors are
 * those of blocking calls, and a child of fork() makes the calls of suspended tasks anew. */
#define _GNU_SOURCE
#include "libc_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/sennit-disks-XXXXXX";
static char path[64];

/* ---- a call on one thread does not keep other tasks from beginning --------------------------- */

static void open_reader(void) {
    const int file = open(path, O_RDONLY);
    CHECK(file >= 0);
    char byte = 0;
    CHECK_EQ(read(file, &byte, 1), 1);
    CHECK_EQ(byte, 'x');
    CHECK_EQ(close(file), 0);
}
static void open_writer(void) {
    const int file = openat(AT_FDCWD, path, O_WRONLY);
    CHECK(file >= 0);
    CHECK_EQ(write(file, "x", 1), 1);
    CHECK_EQ(close(file), 0);
}

/* Each end waits in open() for the other one. */
static void named_pipe(void) {
    CHECK_EQ(mkfifo(path, 0600), 0);
    one_after_the_other(open_reader, open_writer);
    CHECK_EQ(unlink(path), 0);
}

static int make_file(int flags) {
    const int file = open(path, O_CREAT | O_TRUNC | O_RDWR | flags, 0600);
    CHECK(file >= 0);
    return file;
}

/* A sync is seldom over before its thread looks for another task. If none ever suspends the task,
 * this does not end. */
static volatile int begun;

static void sync_beside_another(void) {
    const int file = make_file(0);
#pragma omp parallel num_threads(1)
#pragma omp single
    {
#pragma omp task
        while (!begun) {
            CHECK_EQ(pwrite(file, "x", 1, 0), 1);
            CHECK_EQ(fsync(file), 0);
        }
#pragma omp task
        begun = 1;
    }
    CHECK_EQ(close(file), 0);
}

/* ---- what is written and read ---------------------------------------------------------------- */

enum { records = 6, length = (1 << 20) + 5 }; /* longer than what a task copies itself */

static char *record(int number) {
    char *bytes = malloc(length);
    CHECK(bytes);
    memset(bytes, 'a' + number, length);
    return bytes;
}

static int number_of(const char *bytes) {
    CHECK(bytes[0] >= 'a' && bytes[0] < 'a' + records);
    for (int i = 1; i < length; ++i)
        CHECK_EQ(bytes[i], bytes[0]);
    return bytes[0] - 'a';
}

static void at_offsets(void) {
    const int file = make_file(0);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < records; ++i) {
#pragma omp task
        {
            char *bytes = record(i), *got = malloc(length);
            struct iovec halves[2] = {{bytes, length / 2},
                                      {bytes + length / 2, length - length / 2}};
            const off_t at = (off_t)i * length;
            CHECK_EQ(i % 2 ? pwrite(file, bytes, length, at) : pwritev(file, halves, 2, at),
                     length);
            halves[0].iov_base = got;
            halves[1].iov_base = got + length / 2;
            CHECK_EQ(i % 2 ? preadv(file, halves, 2, at) : pread(file, got, length, at), length);
            CHECK_EQ(number_of(got), i);
            free(bytes);
            free(got);
        }
    }
    CHECK_EQ(lseek(file, 0, SEEK_CUR), 0); /* the position is where it was */
    CHECK_EQ(close(file), 0);
}

/* Tasks share a file's position: each gets a record of its own, whole. */
static void at_position(int flags) {
    const int file = make_file(flags);
    int seen[records] = {0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < records; ++i) {
#pragma omp task
            {
                char *bytes = record(i);
                errno = 0;
                CHECK_EQ(write(file, bytes, length), length);
                CHECK_EQ(errno, 0);
                free(bytes);
            }
        }
#pragma omp taskwait
        CHECK_EQ(lseek(file, 0, SEEK_SET), 0);
        for (int i = 0; i < records; ++i) {
#pragma omp task shared(seen)
            {
                char *got = malloc(length);
                struct iovec whole = {got, length};
                CHECK_EQ(i % 2 ? read(file, got, length) : readv(file, &whole, 1), length);
                const int number = number_of(got);
#pragma omp atomic
                ++seen[number];
                free(got);
            }
        }
    }
    for (int i = 0; i < records; ++i)
        CHECK_EQ(seen[i], 1);
    CHECK_EQ(close(file), 0);
}

/* ---- short counts and errors ----------------------------------------------------------------- */

static void *volatile nowhere;

/* Some systems of files in memory cannot say whether a read waits, as sysfs. */
static void in_memory(void) {
    char byte;
    const int file = open("/sys/devices/system/cpu/online", O_RDONLY);
    if (file < 0)
        return; /* a container without it */
    errno = 0;
    CHECK_EQ(pread(file, &byte, 1, 0), 1);
    CHECK_EQ(errno, 0);
    CHECK_EQ(close(file), 0);
}

static void edges(void) {
    char *bytes = record(0);
    const int file = make_file(O_DSYNC);
    errno = 0; /* which calls that succeed leave alone */
    CHECK_EQ(write(file, bytes, 3), 3);
    CHECK_EQ(pread(file, bytes, length, 1), 2);
    CHECK_EQ(fsync(file), 0);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); /* no page of it is in memory now */
    CHECK_EQ(errno, 0);
    CHECK_EQ(read(file, bytes, 1), 0); /* behind its end */
    CHECK_EQ(pread(file, bytes, 3, 0), 3);
    CHECK_EQ(errno, 0);
    in_memory();
    CHECK_EQ(pread(file, bytes, length, 3), 0);
    CHECK_EQ(pread(file, bytes, length, -1), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(fdatasync(file), 0);
    CHECK_EQ(close(file), 0);

    const int reader = open(path, O_RDONLY);
    CHECK(reader >= 0);
    CHECK_EQ(write(reader, bytes, length), -1);
    CHECK_EQ(errno, EBADF);
    CHECK_EQ(pread(reader, (char *)nowhere, length, 0), -1);
    CHECK_EQ(errno, EFAULT);
    CHECK_EQ(close(reader), 0);
    CHECK_EQ(fsync(reader), -1);
    CHECK_EQ(errno, EBADF);
    CHECK_EQ(open("/tmp/sennit-disks-no-such-folder/file", O_RDONLY), -1);
    CHECK_EQ(errno, ENOENT);

    /* No longer than this: a part, then an error and a signal. */
    struct rlimit before, limit;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = length - 1;
    const int limited = make_file(0);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_EQ(write(limited, bytes, length), length - 1);
    CHECK_EQ(write(limited, bytes, length), -1);
    CHECK_EQ(errno, EFBIG);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &signals, NULL), 0);
    CHECK_EQ(write(limited, bytes, length), -1); /* and no handler is called */
    CHECK_EQ(errno, EFBIG);
    const struct timespec at_once = {0, 0};
    sigtimedwait(&signals, NULL, &at_once);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &signals, NULL), 0);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_EQ(close(limited), 0);
    free(bytes);
}

static volatile int over;

static void beside_others(void (*body)(void)) {
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        {
            body();
            over = 1;
        }
#pragma omp task
        while (!over)
            usleep(200);
    }
}

static volatile sig_atomic_t too_long;

static void on_too_long(int number) {
    (void)number;
    ++too_long;
}

/* ---- fork() ---------------------------------------------------------------------------------- */

/* A task of the thread that forks is in the middle of a write: in the child it writes anew. */
static void forked(void) {
    const int file = make_file(0);
    pid_t child = -1;
    volatile int written = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
    {
#pragma omp task shared(written)
        {
            char *bytes = record(1);
            CHECK_EQ(pwrite(file, bytes, length, 0), length);
            CHECK_EQ(pread(file, bytes, length, 0), length);
            CHECK_EQ(number_of(bytes), 1);
            free(bytes);
            written = 1;
        }
#pragma omp task shared(child)
        child = fork();
    }
    CHECK_EQ(written, 1);
    if (child == 0)
        _exit(0);
    int status = -1;
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(close(file), 0);
}

int main(void) {
    alarm(60);
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    named_pipe();
    sync_beside_another();
    at_offsets();
    at_position(0);
    at_position(O_APPEND);
    signal(SIGXFSZ, on_too_long);
    beside_others(edges);
    CHECK_EQ(too_long, 1);
    forked();
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(rmdir(folder), 0);
    return 0;
}
