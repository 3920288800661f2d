/* SPDX-License-Identifier: Apache-2.0
 * build: compiler=gcc -fPIE -pie -D_FORTIFY_SOURCE=2
 * build: compiler=clang -fPIE -pie
 * A program that finds itself in every way that programs use, and starts itself again. It ends with
 * 0 if each is as in a process. With MPI (WITH_MPI) the last start is one of all ranks.
 *
 * Usage: oneself all */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "check.h"

extern char **environ;
static char **words;
static char me[PATH_MAX]; /* by argv[0] */

/* /proc's names of this process. */
static void entries(const char *last, char names[5][64]) {
    snprintf(names[0], 64, "/proc/self/%s", last);
    snprintf(names[1], 64, "/proc/thread-self/%s", last);
    snprintf(names[2], 64, "/proc/%d/%s", (int)getpid(), last);
    snprintf(names[3], 64, "/proc/self/task/%d/%s", (int)getpid(), last);
    snprintf(names[4], 64, "/proc/%d/task/%d/%s", (int)getpid(), (int)getpid(), last);
}

static size_t contents(int file, char *to, size_t size) {
    size_t all = 0;
    CHECK(file >= 0);
    for (ssize_t got; (got = read(file, to + all, size - all)) > 0;)
        all += (size_t)got;
    close(file);
    return all;
}

static void is_me(int file) {
    enum { size = 4096 };
    static char a[size], b[size];
    CHECK(contents(file, a, size) == size && contents(open(me, O_RDONLY), b, size) == size);
    CHECK(memcmp(a, b, size) == 0);
}

static void links(void) {
    char names[5][64], to[PATH_MAX];
    struct stat mine, other;
    struct statx extended;
    CHECK(stat(me, &mine) == 0);
    entries("exe", names);
    for (int i = 0; i < 5; ++i) {
        memset(to, 0, sizeof to);
        CHECK(readlink(names[i], to, sizeof to - 1) == (ssize_t)strlen(me) && strcmp(to, me) == 0);
        memset(to, 0, sizeof to);
        CHECK(readlinkat(AT_FDCWD, names[i], to, 4) == 4 && strncmp(to, me, 4) == 0 && to[4] == 0);
        CHECK(realpath(names[i], to) && strcmp(to, me) == 0);
        char *const canonical = canonicalize_file_name(names[i]);
        CHECK(canonical && strcmp(canonical, me) == 0);
        free(canonical);
        CHECK(stat(names[i], &other) == 0 && other.st_ino == mine.st_ino);
        CHECK(fstatat(AT_FDCWD, names[i], &other, 0) == 0 && other.st_ino == mine.st_ino);
        CHECK(statx(AT_FDCWD, names[i], 0, STATX_INO, &extended) == 0 &&
              extended.stx_ino == mine.st_ino);
        CHECK(lstat(names[i], &other) == 0 && S_ISLNK(other.st_mode));
    }
    CHECK(readlink("/proc/self/exe", to, 0) == -1 && errno == EINVAL);
    CHECK(readlink("/proc/self/exec", to, sizeof to) == -1 && errno == ENOENT);
    /* Another's stay another's. */
    snprintf(names[0], 64, "/proc/%d/exe", (int)getppid());
    CHECK(readlink(names[0], to, sizeof to) == -1 || strncmp(to, me, strlen(me)) != 0);
}

static void files(void) {
    char names[5][64];
    entries("exe", names);
    for (int i = 0; i < 5; ++i) {
        is_me(open(names[i], O_RDONLY | O_CLOEXEC));
        is_me(open64(names[i], O_RDONLY));
        is_me(openat(AT_FDCWD, names[i], O_RDONLY));
        FILE *const file = fopen(names[i], "r");
        CHECK(file);
        is_me(dup(fileno(file)));
        FILE *const again = freopen(names[i], "rb", file);
        CHECK(again);
        is_me(dup(fileno(again)));
        fclose(again);
    }
    char beside[PATH_MAX], name[PATH_MAX + 64];
    struct stat one, other;
    strcpy(beside, me);
    snprintf(name, sizeof name, "%s/%s", dirname(beside), strrchr(me, '/') + 1);
    CHECK(stat(name, &one) == 0 && stat("/proc/self/exe", &other) == 0 &&
          one.st_ino == other.st_ino);
}

/* The arguments and the environment, as the kernel lays them out there. */
static void texts(void) {
    enum { size = 1 << 20 };
    char *const got = malloc(size), *const wanted = malloc(size);
    char names[5][64];
    size_t length = 0;
    for (char **word = words; *word; ++word)
        length += (size_t)sprintf(wanted + length, "%s", *word) + 1;
    entries("cmdline", names);
    for (int i = 0; i < 5; ++i) {
        CHECK(contents(open(names[i], O_RDONLY), got, size) == length);
        CHECK(memcmp(got, wanted, length) == 0);
    }
    FILE *const file = fopen("/proc/self/cmdline", "r");
    CHECK(file && fgets(got, size, file) && strcmp(got, words[0]) == 0);
    fclose(file);
    /* The one that it had at the start: with nothing of what came later. */
    setenv("ONESELF_LATER", "1", 1);
    entries("environ", names);
    const int given = sprintf(wanted, "PATH=%s", getenv("PATH"));
    for (int i = 0; i < 5; ++i) {
        int seen = 0;
        length = contents(open(names[i], O_RDONLY), got, size);
        for (size_t at = 0; at < length; at += strlen(got + at) + 1) {
            CHECK(strchr(got + at, '=') && strncmp(got + at, "ONESELF_LATER", 13) != 0);
            CHECK(!strstr(got + at, "libsennit-rank"));
            seen += strcmp(wanted, got + at) == 0;
        }
        CHECK(given > 5 && seen == 1);
    }
    const char *const preloaded = getenv("LD_PRELOAD");
    CHECK(!preloaded || !strstr(preloaded, "libsennit-rank"));
    unsetenv("ONESELF_LATER");
    free(got);
    free(wanted);
}

enum way {
    by_execv,
    by_execve,
    by_execvp,
    by_execvpe,
    by_execl,
    by_execlp,
    by_execle,
    by_execveat,
    by_fexecve,
    by_readlink,
    by_number,
    by_argv,
    ways
};

static void start_again(enum way way) {
    const char *const exe = "/proc/self/exe";
    char *again[] = {words[0], (char *)"again", NULL}, path[PATH_MAX] = "", number[64];
    snprintf(number, sizeof number, "/proc/%d/exe", (int)getpid());
    switch (way) {
    case by_execv:
        execv(exe, again);
        break;
    case by_execve:
        execve(exe, again, environ);
        break;
    case by_execvp:
        execvp(exe, again);
        break;
    case by_execvpe:
        execvpe(exe, again, environ);
        break;
    case by_execl:
        execl(exe, words[0], "again", (char *)NULL);
        break;
    case by_execlp:
        execlp(exe, words[0], "again", (char *)NULL);
        break;
    case by_execle:
        execle(exe, words[0], "again", (char *)NULL, environ);
        break;
    case by_execveat:
        execveat(AT_FDCWD, exe, again, environ, 0);
        break;
    case by_fexecve:
        fexecve(open(exe, O_RDONLY | O_CLOEXEC), again, environ);
        break;
    case by_readlink:
        if (readlink(exe, path, sizeof path - 1) > 0)
            execv(path, again);
        break;
    case by_number:
        execv(number, again);
        break;
    default:
        execvp(words[0], again);
        break;
    }
    fprintf(stderr, "way %d to start again failed: %s\n", (int)way, strerror(errno));
    _exit(9);
}

static int end_of(pid_t child) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static __attribute__((noinline)) pid_t light_child(enum way way) {
    const pid_t child = vfork();
    if (child == 0)
        start_again(way);
    return child;
}

static void starts(void) {
    for (int way = 0; way < ways; ++way) {
        pid_t child = fork();
        if (child == 0) {
            char to[PATH_MAX] = "";
            CHECK(readlink("/proc/self/exe", to, sizeof to - 1) > 0 && strcmp(to, me) == 0);
            start_again((enum way)way);
        }
        CHECK(end_of(child) == 5);
        CHECK(end_of(light_child((enum way)way)) == 5);
    }
    char *again[] = {words[0], (char *)"again", NULL};
    pid_t child;
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0);
    CHECK(end_of(child) == 5);
    CHECK(posix_spawnp(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0);
    CHECK(end_of(child) == 5);
}

static void *in_a_thread(void *unused) {
    char path[64], to[PATH_MAX] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/exe", (int)syscall(SYS_gettid));
    CHECK(readlink("/proc/thread-self/exe", to, sizeof to - 1) > 0 && strcmp(to, me) == 0);
    CHECK(readlink(path, to, sizeof to) > 0 && strcmp(to, me) == 0);
    return unused;
}

/* What a program does that sets what is read at its start, and starts again. */
static int finally(void) {
    CHECK(strcmp(getenv("ONESELF_SET"), "1") == 0);
#ifdef WITH_MPI
    int one = 1, all = 0, size;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size);
    links();
    files();
    texts();
    MPI_Finalize();
#endif
    return 0;
}

int main(int count, char **arguments) {
    words = arguments;
    const char *const what = count > 1 ? words[1] : "";
    if (strcmp(what, "again") == 0)
        return 5;
    const char *const found = words[0][0] == '/' ? words[0] : getenv("ONESELF");
    CHECK(found && realpath(found, me));
    links();
    files();
    texts();
    if (strcmp(what, "finally") == 0)
        return finally();
    starts();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_a_thread, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    setenv("ONESELF_SET", "1", 1);
    execl("/proc/self/exe", words[0], "finally", (char *)NULL);
    CHECK(!"started again");
    return 1;
}
