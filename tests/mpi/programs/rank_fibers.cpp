// SPDX-License-Identifier: Apache-2.0
// build_once: if=rank_fibers compile='{pie_cxx} -std=c++17 -pthread' -- -lstdc++ -lm
// What has to stay a rank's own while its main flow hops between kernel threads (src/ranks/fibers).
// Each case hops, by a token that goes round the ranks, between any two things that it looks at.
//
//   rank_fibers whole     all cases; exit code 0
//   rank_fibers WAY       rank 1 ends in that way after some hops: exit, atexit, segfault, abort,
//                         fault (a write to what cannot be written, handled by siglongjmp; then 0)
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "check.h"

namespace {

// Once round: every rank but the one that starts has to wait.
void hop() {
    static long token;
    const long before = token;
    if (rank == 0) {
        MPI_Send(&token, 1, MPI_LONG, next(), 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_LONG, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ++token;
    } else {
        MPI_Recv(&token, 1, MPI_LONG, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(token == before);
        MPI_Send(&token, 1, MPI_LONG, next(), 0, MPI_COMM_WORLD);
        ++token;
    }
}

constexpr int kTimes = 50;

thread_local long t_mine;

void thread_is_its_own() {
    const pthread_t self = pthread_self();
    for (int i = 0; i < kTimes; ++i) {
        const int mine = 1000 * (rank + 1) + i;
        errno = mine;
        hop();
        CHECK(errno == mine || errno < 1000); // the MPI library may set it to an error of its own
        CHECK(pthread_equal(self, pthread_self()));
        CHECK(t_mine == i);
        ++t_mine;
        void *const memory = std::malloc(static_cast<std::size_t>(1000 * (i + 1)));
        std::memset(memory, rank, static_cast<std::size_t>(1000 * (i + 1)));
        hop();
        std::free(memory);
    }
}

void process_is_its_own(const std::string &folder) {
    const pid_t own = getpid();
    const std::string mine = folder + "/" + std::to_string(rank);
    CHECK(mkdir(mine.c_str(), 0700) == 0 && chdir(mine.c_str()) == 0);
    umask(static_cast<mode_t>(rank));
    const int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0777);
    CHECK(file >= 0 && fcntl(file, F_DUPFD, 99) >= 99);
    for (int i = 0; i < kTimes; ++i) {
        hop();
        CHECK(syscall(SYS_getpid) == own && syscall(SYS_gettid) == own);
        hop();
        CHECK(dprintf(file, "%d\n", rank) > 0);
        hop();
        struct stat status{};
        CHECK(stat("file", &status) == 0 && (status.st_mode & 0777 & rank) == 0);
        hop();
        char folder_now[4096];
        CHECK(getcwd(folder_now, sizeof folder_now) && mine == folder_now);
        hop();
        const int processor = sched_getcpu();
        CHECK(processor >= 0 && processor < CPU_SETSIZE);
    }
    CHECK(lseek(file, 0, SEEK_CUR) == 2 * kTimes);
    close(file);
}

void floating_point_control_travels() {
    CHECK(std::fesetround(rank % 2 ? FE_UPWARD : FE_DOWNWARD) == 0);
    _mm_setcsr(_mm_getcsr() | (rank % 2 ? 0x8000U : 0U)); // flush to zero
    const unsigned vector = _mm_getcsr() & ~0x3fU;
    for (int i = 0; i < kTimes; ++i) {
        hop();
        CHECK(std::fegetround() == (rank % 2 ? FE_UPWARD : FE_DOWNWARD));
        CHECK((_mm_getcsr() & ~0x3fU) == vector);
        write(-1, "", 0); // goes home, to fail there
        CHECK((_mm_getcsr() & ~0x3fU) == vector);
    }
    _mm_setcsr(_mm_getcsr() & ~0x8000U);
    std::fesetround(FE_TONEAREST);
}

void thrower(int depth) {
    if (depth == 0) {
        hop();
        throw std::runtime_error(std::to_string(rank));
    }
    thrower(depth - 1);
}

void exceptions_are_its_own() {
    for (int i = 0; i < kTimes; ++i) {
        bool caught = false;
        try {
            try {
                thrower(3);
            } catch (const std::runtime_error &error) {
                hop();
                CHECK(error.what() == std::to_string(rank));
                throw;
            }
        } catch (const std::exception &error) {
            hop();
            CHECK(error.what() == std::to_string(rank) && std::uncaught_exceptions() == 0);
            caught = true;
        }
        CHECK(caught);
    }
}

volatile sig_atomic_t g_alarms, g_strange;
std::uintptr_t g_thread;

void count_alarm(int) {
    g_alarms = g_alarms + 1;
    // It may come to a thread of the MPI library, too.
    const bool is_main = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()) == g_thread;
    if (is_main != (syscall(SYS_gettid) == getpid()))
        g_strange = g_strange + 1;
}

void signals_come_home() {
    g_thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    struct sigaction action{};
    action.sa_handler = count_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &often, nullptr);
    volatile double sum = 0;
    for (int go_on = 1, all = 1; all;) {
        hop();
        for (int i = 0; i < 20000; ++i)
            sum = sum + i;
        go_on = g_alarms < 20;
        MPI_Allreduce(&go_on, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    CHECK(g_strange == 0);
}

struct Waiter {
    std::atomic<int> seen{0};
    static void *wait(void *argument) {
        auto &self = *static_cast<Waiter *>(argument);
        sigset_t wanted;
        sigemptyset(&wanted);
        sigaddset(&wanted, SIGUSR1);
        for (int got = 0; self.seen < kTimes && sigwait(&wanted, &got) == 0;)
            self.seen += got == SIGUSR1;
        return nullptr;
    }
    // One signal after the other, each to the whole process.
    static void *send(void *argument) {
        auto &self = *static_cast<Waiter *>(argument);
        for (int i = 0; i < kTimes; ++i) {
            usleep(200); // the main flow leaves home meanwhile
            kill(getpid(), SIGUSR1);
            while (self.seen == i)
                usleep(50);
        }
        return nullptr;
    }
};

// The program blocks the signal everywhere, so it is for the thread that waits for it, wherever the
// main flow is.
void signals_go_to_who_waits() {
    Waiter waiter;
    pthread_t threads[2];
    CHECK(pthread_create(&threads[0], nullptr, Waiter::wait, &waiter) == 0);
    CHECK(pthread_create(&threads[1], nullptr, Waiter::send, &waiter) == 0);
    for (int go_on = 1, all = 1; all;) {
        hop();
        go_on = waiter.seen < kTimes;
        MPI_Allreduce(&go_on, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    for (const pthread_t thread : threads)
        CHECK(pthread_join(thread, nullptr) == 0);
}

sigjmp_buf g_back;
void jump_back(int) {
    siglongjmp(g_back, 1);
}

void faults_are_its_own() {
    struct sigaction action{};
    action.sa_handler = jump_back;
    sigaction(SIGSEGV, &action, nullptr);
    void *const wall = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < kTimes; ++i) {
        volatile int faults = 0;
        hop();
        if (sigsetjmp(g_back, 1) == 0)
            *static_cast<volatile int *>(wall) = 1;
        else
            faults = faults + 1;
        CHECK(faults == 1);
    }
    munmap(wall, 4096);
    action.sa_handler = SIG_DFL;
    sigaction(SIGSEGV, &action, nullptr);
}

struct Pair {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    int turn = 0;
    int pipe[2];
};

void *partner(void *argument) {
    Pair &pair = *static_cast<Pair *>(argument);
    for (int i = 0; i < kTimes; ++i) {
        pthread_mutex_lock(&pair.mutex);
        while (pair.turn != 1)
            pthread_cond_wait(&pair.changed, &pair.mutex);
        pair.turn = 0;
        pthread_cond_signal(&pair.changed);
        pthread_mutex_unlock(&pair.mutex);
        usleep(100);
        if (write(pair.pipe[1], &i, sizeof i) != sizeof i)
            std::abort();
    }
    return nullptr;
}

// None of these waits holds up another rank.
void threads_and_pipes() {
    Pair pair;
    pthread_t thread;
    CHECK(pipe(pair.pipe) == 0 && pthread_create(&thread, nullptr, partner, &pair) == 0);
    for (int i = 0; i < kTimes; ++i) {
        hop();
        pthread_mutex_lock(&pair.mutex);
        pair.turn = 1;
        pthread_cond_signal(&pair.changed);
        while (pair.turn != 0)
            pthread_cond_wait(&pair.changed, &pair.mutex);
        pthread_mutex_unlock(&pair.mutex);
        hop();
        int read_number = -1;
        CHECK(read(pair.pipe[0], &read_number, sizeof read_number) == sizeof read_number);
        CHECK(read_number == i);
    }
    CHECK(pthread_join(thread, nullptr) == 0);
    close(pair.pipe[0]);
    close(pair.pipe[1]);
}

void children() {
    for (int i = 0; i < 3; ++i) {
        hop();
        const pid_t child = fork();
        if (child == 0)
            _exit(getppid() > 1 ? rank + 1 : 99);
        hop();
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == rank + 1);
        hop();
        FILE *const output = popen("echo here", "r");
        char line[16] = "";
        CHECK(output && fgets(line, sizeof line, output) && std::strcmp(line, "here\n") == 0);
        CHECK(pclose(output) == 0);
    }
}

void spawned() {
    char name[] = "true";
    char *words[] = {name, nullptr};
    for (int i = 0; i < 3; ++i) {
        hop();
        pid_t child = 0;
        CHECK(posix_spawnp(&child, name, nullptr, nullptr, words, environ) == 0);
        hop();
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        hop();
        CHECK(WEXITSTATUS(std::system("exit 4")) == 4);
    }
}

// Who holds the lock hops meanwhile; the others wait in the kernel, and keep no worker.
void files_are_locked(const std::string &folder) {
    const int file = open((folder + "/locked").c_str(), O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0);
    for (int i = 1; i <= 10; ++i) {
        hop();
        CHECK(flock(file, LOCK_EX) == 0);
        long count = 0;
        CHECK(pread(file, &count, sizeof count, 0) >= 0);
        ++count;
        usleep(200);
        CHECK(pwrite(file, &count, sizeof count, 0) == sizeof count);
        CHECK(flock(file, LOCK_UN) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(pread(file, &count, sizeof count, 0) == sizeof count && count == long{i} * ranks);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close(file);
}

// Odd ranks want a signal where they divide by zero, even ones an infinite number.
void floating_point_faults_are_its_own() {
    struct sigaction action{};
    action.sa_handler = jump_back;
    sigaction(SIGFPE, &action, nullptr);
    volatile double zero = 0;
    if (rank % 2)
        feenableexcept(FE_DIVBYZERO);
    for (int i = 0; i < kTimes; ++i) {
        volatile int faults = 0;
        hop();
        if (sigsetjmp(g_back, 1) == 0) {
            volatile double result = 1 / zero;
            CHECK(result > 1);
        } else {
            faults = faults + 1;
        }
        CHECK(faults == rank % 2);
        if (rank % 2) {
            std::feclearexcept(FE_ALL_EXCEPT);
            feenableexcept(FE_DIVBYZERO);
        }
    }
    fedisableexcept(FE_ALL_EXCEPT);
    std::feclearexcept(FE_ALL_EXCEPT);
    action.sa_handler = SIG_DFL;
    sigaction(SIGFPE, &action, nullptr);
}

// All ranks write and read one file.
void files_of_all(const std::string &folder) {
    MPI_File file;
    const std::string path = folder + "/all";
    CHECK(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS);
    for (int i = 0; i < 3; ++i) {
        const long out = 100 * i + rank;
        long in = -1;
        CHECK(MPI_File_write_at_all(file, MPI_Offset{8} * rank, &out, 1, MPI_LONG,
                                    MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(file);
        CHECK(MPI_File_read_at_all(file, MPI_Offset{8} * next(), &in, 1, MPI_LONG,
                                   MPI_STATUS_IGNORE) == MPI_SUCCESS);
        CHECK(in == 100 * i + next());
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
}

// All but the last spin on a word in a file that the last one writes, and nobody calls MPI
// meanwhile: the last one must get a core.
void spinning(const std::string &folder) {
    const std::string path = folder + "/shared";
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    auto *const words = static_cast<volatile int *>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    CHECK(words != MAP_FAILED);
    for (int i = 1; i <= 5; ++i) {
        hop();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == ranks - 1)
            words[0] = i;
        else
            while (words[0] < i) {
            }
        // The same with tests that are in vain.
        int flag = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        char nothing = 0;
        if (rank == 0) {
            for (int other = 1; other < ranks; ++other)
                MPI_Send(&nothing, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD);
        } else {
            MPI_Irecv(&nothing, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
            while (!flag)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
    }
    close(file);
}

// Calls without a form that does not block, and those of all.
void other_calls() {
    for (int i = 0; i < 5; ++i) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        int one = 1;
        int sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
        CHECK(sum == (ranks + 1 - rank % 2) / 2);
        MPI_Comm_free(&half);
        IN_WINDOW long box = 0, mine = rank;
        MPI_Win window;
        MPI_Win_create(&box, sizeof box, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        MPI_Put(&mine, 1, MPI_LONG, next(), 0, 1, MPI_LONG, window);
        MPI_Win_fence(0, window);
        CHECK(box == previous());
        MPI_Win_free(&window);
        constexpr int length = 300'000; // longer than MPI libraries send at once
        std::string out(length, static_cast<char>('a' + rank)), in(length, ' ');
        MPI_Sendrecv(out.data(), length, MPI_CHAR, next(), 2, &in[0], length, MPI_CHAR, previous(),
                     2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in == std::string(length, static_cast<char>('a' + previous())));
    }
}

// A receive outlives the communicator that it was posted on.
void communicators_are_freed_in_use() {
    for (int i = 0; i < 5; ++i) {
        MPI_Comm comm;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (rank == 1)
            MPI_Irecv(nullptr, 0, MPI_INT, 0, 0, comm, &request);
        if (rank != 0)
            MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Ssend(nullptr, 0, MPI_INT, 1, 0, comm);
            MPI_Comm_free(&comm);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

// Each rank duplicates what it has in common with the next and with the previous one, at once: a
// circle, which blocking calls would never leave.
void duplicates_overlap() {
    MPI_Comm common[2], duplicates[2], neither;
    for (int i = 0; i < ranks; ++i) {
        const bool is_first = rank == i;
        const bool is_second = rank == (i + 1) % ranks;
        MPI_Comm *const mine = is_first ? &common[0] : is_second ? &common[1] : &neither;
        MPI_Comm_split(MPI_COMM_WORLD, is_first || is_second ? 0 : 1, 0, mine);
        if (mine == &neither)
            MPI_Comm_free(&neither);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 2; ++i)
        MPI_Comm_idup(common[i], &duplicates[i], &requests[i]);
    MPI_Waitall(2, requests, statuses);
    for (int i = 0; i < 2; ++i) {
        int size = 0;
        MPI_Comm_size(duplicates[i], &size);
        CHECK(size == 2);
        MPI_Comm_free(&duplicates[i]);
        MPI_Comm_free(&common[i]);
    }
}

int g_at_exit = 0;
void leave_in_atexit() {
    if (g_at_exit)
        _exit(6);
}

void end_as(const std::string &way) {
    std::atexit(leave_in_atexit);
    for (int i = 0; i < kTimes; ++i)
        hop();
    if (rank == 1) {
        if (way == "exit")
            std::exit(5);
        if (way == "atexit") {
            g_at_exit = 1;
            std::exit(0);
        }
        if (way == "segfault")
            *reinterpret_cast<volatile int *>(static_cast<std::uintptr_t>(8)) = 1;
        if (way == "abort")
            std::abort();
        if (way == "kill")
            raise(SIGKILL);
    }
    for (;;)
        hop(); // until the launcher ends it
}

} // namespace

int main(int count, char **words) {
    sigset_t blocked; // in the threads of the MPI library, too
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(count > 1);
    if (const char *const symbol = getenv("RANK_FIBERS_ALLOCATOR"))
        CHECK(dlsym(RTLD_DEFAULT, symbol)); // another one than libc's
    const std::string what = words[1];
    if (what != "whole")
        end_as(what);
    // In the test's own folder, which goes with the test even if this program is killed.
    char folder[256] = {};
    const char *const parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/sennit-rank-fibers-XXXXXX", parent ? parent : "/tmp");
    if (rank == 0)
        CHECK(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    thread_is_its_own();
    process_is_its_own(folder);
    floating_point_control_travels();
    exceptions_are_its_own();
    signals_come_home();
    signals_go_to_who_waits();
    faults_are_its_own();
    threads_and_pipes();
    children();
    spinning(folder);
    other_calls();
    communicators_are_freed_in_use();
    duplicates_overlap();
    floating_point_faults_are_its_own();
    spawned();
    files_are_locked(folder);
    files_of_all(folder);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(chdir("/") == 0);
        CHECK(std::system((std::string("rm -r ") + folder).c_str()) == 0);
        std::puts("whole");
    }
    MPI_Finalize();
    return 0;
}
