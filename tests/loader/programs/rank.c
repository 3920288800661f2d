/* SPDX-License-Identifier: Apache-2.0
 * build: -fPIE -pie
 * build: compiler=gcc out={bin}/programs/rank-static.gcc -fPIE -static-pie -Wno-error
 * build: compiler=gcc out={bin}/programs/rank-fixed.gcc -fno-pie -no-pie
 * A virtual rank that does what the first argument asks, and ends with 0 if all was as in a process
 * of its own. It has no MPI: what is tested is the loader. */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int counted;
static __thread int counted_by_thread;
static volatile sig_atomic_t seen;
static int constructed;
extern char **environ;

__attribute__((constructor)) static void construct(void) {
    ++constructed;
}

static void note(int signal) {
    seen = signal;
}

/* Ranks write their own number all over their memory, and find nobody else's. */
static void memory(void) {
    enum { blocks = 300 };
    const int self = getpid();
    int *held[blocks];
    counted = counted_by_thread = 0;
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < blocks; ++i) {
            const size_t size = (size_t)(i * 37 + 1) * sizeof(int);
            held[i] = malloc(size);
            for (size_t j = 0; j < size / sizeof(int); ++j)
                held[i][j] = self;
        }
        counted += self;
        counted_by_thread += self;
        CHECK(counted == (round + 1) * self && counted_by_thread == counted);
        for (int i = 0; i < blocks; ++i) {
            for (int j = 0; j < i * 37 + 1; ++j)
                CHECK(held[i][j] == self);
            free(held[i]);
        }
    }
    CHECK(constructed == 1);
    /* Who gives back what it never got must do no harm. */
    sbrk(4096);
    sbrk(-4096);
    sbrk(-1048576);
}

/* Memory that asks for huge pages, given back in part and asked for anew: each rank finds its own.
 */
static void huge_pages(void) {
    enum { round_times = 3 };
    const size_t bytes = (size_t)16 << 20, part = 4096;
    for (int round = 0; round < round_times; ++round) {
        char *const all =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(all != MAP_FAILED);
        madvise(all, bytes, MADV_HUGEPAGE); /* a kernel may have none */
        const char mine = (char)(getpid() + round);
        memset(all, mine, bytes);
        CHECK(madvise(all + bytes / 2, part, MADV_DONTNEED) == 0);
        for (size_t i = 0; i < bytes; ++i)
            CHECK(all[i] == (i / part == bytes / 2 / part ? 0 : mine));
        CHECK(munmap(all, bytes) == 0);
    }
}

static void *think(void *unused) {
    (void)unused;
    CHECK(counted_by_thread == 0);
    counted_by_thread = 7;
    return NULL;
}

static void threads(void) {
    const int before = counted_by_thread;
    pthread_t thread[8];
    for (int i = 0; i < 8; ++i)
        CHECK(pthread_create(&thread[i], NULL, think, NULL) == 0);
    for (int i = 0; i < 8; ++i)
        CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(counted_by_thread == before);
    pthread_attr_t attributes;
    void *low;
    size_t size;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &low, &size) == 0);
    char here;
    CHECK((char *)low <= &here && &here < (char *)low + size && size >= 1 << 18);
    /* The loader tells Sennit's runtime the same (src/base/rank.h). */
    CHECK(getauxval(0x53656e6c) == (unsigned long)low);
    CHECK(getauxval(0x53656e68) == (unsigned long)low + size);
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    CHECK(limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

static int deep(int depth) {
    volatile char page[4096];
    page[0] = (char)depth;
    return depth == 0 ? 0 : deep(depth - 1) + page[0] - (char)depth;
}

static void stack(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    const long pages = limit.rlim_cur == RLIM_INFINITY ? 4096 : (long)(limit.rlim_cur / 4096);
    CHECK(deep((int)(pages * 9 / 10 * 4096 / 4192)) == 0);
}

static void children(void) {
    const pid_t child = fork();
    if (child == 0) {
        memory();
        _exit(3);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK(WEXITSTATUS(system("exit 5")) == 5);
    FILE *output = popen("echo word", "r");
    char text[16];
    CHECK(output && fgets(text, sizeof text, output) && strcmp(text, "word\n") == 0);
    CHECK(pclose(output) == 0);
    pid_t spawned;
    char *words[] = {"true", NULL};
    CHECK(posix_spawnp(&spawned, "true", NULL, NULL, words, environ) == 0);
    CHECK(waitpid(spawned, &status, 0) == spawned && status == 0);
    const pid_t light = vfork();
    if (light == 0) {
        execlp("false", "false", NULL);
        _exit(9);
    }
    CHECK(waitpid(light, &status, 0) == light && WEXITSTATUS(status) == 1);
}

static void signals(void) {
    struct itimerval soon = {.it_value = {0, 10000}};
    signal(SIGALRM, note);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (int i = 0; i < 1000 && seen == 0; ++i)
        usleep(10000);
    CHECK(seen == SIGALRM);
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number < 32; ++number)
        CHECK(!sigismember(&blocked, number));
}

static void libraries(void) {
    void *library = dlopen("libm.so.6", RTLD_NOW);
    CHECK(library);
    double (*function)(double) = (double (*)(double))dlsym(library, "sqrt");
    CHECK(function && function(9) == 3);
    CHECK(dlclose(library) == 0);
}

/* The two sides of src/base/fence.h: at least one of them sees the other. */
static atomic_int flag[2], result[2], turn[2];

static void *frequent(void *unused) {
    (void)unused;
    for (int round = 1; round <= 20000; ++round) {
        while (atomic_load(&turn[0]) != round)
            ;
        atomic_store_explicit(&flag[0], round, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
        result[0] = atomic_load_explicit(&flag[1], memory_order_relaxed) == round;
        atomic_store(&turn[1], round);
    }
    return NULL;
}

static void fences(void) {
    CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, frequent, NULL) == 0);
    for (int round = 1; round <= 20000; ++round) {
        atomic_store(&turn[0], round);
        atomic_store_explicit(&flag[1], round, memory_order_relaxed);
        CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
        const int saw = atomic_load_explicit(&flag[0], memory_order_relaxed) == round;
        while (atomic_load(&turn[1]) != round)
            if (getpid() < 0)
                return;
        CHECK(saw || result[0]);
    }
    pthread_join(thread, NULL);
}

/* What the launcher gave to the stub. */
static void inheritance(char **words) {
    CHECK(strcmp(words[0], "another name") == 0);
    CHECK(strcmp(words[2], "an argument") == 0);
    CHECK(strcmp(getenv("GIVEN"), "a value") == 0);
    const char *program = (const char *)getauxval(AT_EXECFN);
    CHECK(program && program[0] == '/' && access(program, X_OK) == 0);
    char folder[256];
    CHECK(getcwd(folder, sizeof folder) && strcmp(folder, words[3]) == 0);
    CHECK(umask(0) == 031);
    int open_files = 0;
    DIR *numbers = opendir("/proc/self/fd");
    for (struct dirent *entry; (entry = readdir(numbers));)
        if (*entry->d_name != '.' && atoi(entry->d_name) != dirfd(numbers))
            ++open_files;
    closedir(numbers);
    CHECK(open_files == 4); /* the standard ones and number 77 */
    char text[8] = "";
    CHECK(read(77, text, sizeof text) == 5 && strcmp(text, "hello") == 0);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    CHECK(limit.rlim_cur == 123);
    cpu_set_t processors;
    CHECK(sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) == 1);
    struct sigaction action;
    sigaction(SIGHUP, NULL, &action);
    CHECK(action.sa_handler == SIG_IGN);
    sigaction(SIGTERM, NULL, &action);
    CHECK(action.sa_handler == SIG_DFL);
    CHECK(getpgrp() == getpid());
}

/* So many mappings of one page each, of which every second one is written: neighbours differ, so
 * the kernel does not join them. */
static void mappings(int count) {
    const long page = sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, (size_t)(count * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    for (int i = 0; i < count; i += 2) {
        CHECK(mprotect(pages + i * page, (size_t)page, PROT_READ | PROT_WRITE) == 0);
        *(int *)(pages + i * page) = getpid() + i;
    }
    printf("rank 0 of 1 pid %d\n", (int)getpid());
    fflush(stdout);
    char line[16];
    CHECK(fgets(line, sizeof line, stdin)); /* all are there */
    for (int i = 0; i < count; i += 2)
        CHECK(*(int *)(pages + i * page) == getpid() + i);
    memory();
}

static void leave_otherwise(void) {
    _exit(6);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    if (strcmp(what, "all") == 0) {
        memory();
        threads();
        stack();
        libraries();
        signals();
        memory();
    }
    if (strcmp(what, "memory") == 0)
        memory();
    if (strcmp(what, "huge-pages") == 0)
        huge_pages();
    if (strcmp(what, "children") == 0)
        children();
    if (strcmp(what, "mappings") == 0)
        mappings(atoi(words[2]));
    if (strcmp(what, "allocator") == 0) { /* of whose functions one is named */
        CHECK(dlsym(RTLD_DEFAULT, words[2]));
        memory();
        threads();
        children();
        memory();
    }
    if (strcmp(what, "fences") == 0)
        fences();
    if (strcmp(what, "inheritance") == 0)
        inheritance(words);
    if (strcmp(what, "ready") == 0) { /* until a line comes, then it has to be whole */
        printf("rank 0 of 1 pid %d\n", (int)getpid());
        fflush(stdout);
        char line[16];
        CHECK(fgets(line, sizeof line, stdin));
        memory();
    }
    if (strcmp(what, "exit") == 0)
        exit(atoi(words[2]));
    if (strcmp(what, "exit-in-atexit") == 0)
        atexit(leave_otherwise);
    if (strcmp(what, "segfault") == 0)
        *(volatile int *)8 = 1;
    if (strcmp(what, "overflow") == 0)
        return deep(1 << 30);
    if (strcmp(what, "deep") == 0) /* so many MiB of its stack */
        return deep((int)(atol(words[2]) * 1024 * 1024 / 4192));
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "raise") == 0)
        raise(atoi(words[2]));
    if (strcmp(what, "exec") == 0)
        execlp("sh", "sh", "-c", "exit 8", NULL);
    return 0;
}
