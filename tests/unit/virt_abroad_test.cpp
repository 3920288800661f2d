// SPDX-License-Identifier: Apache-2.0
// Rank fibers that wait for somebody who is not in their address space
// (ranks/fibers/fiber_rings.h).
#include "ranks/fibers/crew.h"
#include "ranks/fibers/home.h"

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sennit::virt {
namespace {

std::string obstacle() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return "a sanitizer does not know that flows change their threads";
#else
    return impediment();
#endif
}

// What the host and the one that changes a word share.
struct Shared {
    std::atomic<std::uint32_t> word{0};
    std::atomic<bool> waits{false};
};

struct Flow {
    RankFiber *fiber;
    Shared *shared;
};

// The main flow of a rank. No time limit helps it. Away from home, it makes _exit there.
void *main_flow(void *argument) {
    const auto [fiber, shared] = *static_cast<const Flow *>(argument);
    fiber->thread.store(gettid());
    fiber->process.store(getpid());
    constexpr std::int64_t forever = std::int64_t{1} << 60;
    while (shared->word.load() == 0)
        if (!fiber->calls->wait(*fiber, {&shared->word, 0}, {}, forever))
            _exit(2);
    _exit(0);
}

// Does not return.
void be_host(Shared &shared) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    static Crew crew;
    Flow flow = {crew.staff(cores) ? crew.add() : nullptr, &shared};
    pthread_t thread;
    if (!flow.fiber || pthread_create(&thread, nullptr, main_flow, &flow) != 0)
        _exit(1);
    while (flow.fiber->stage.load() != Stage::waiting)
        sched_yield();
    shared.waits.store(true);
    for (;;)
        pause();
}

TEST(RankFibers, GoOnWhenAnotherProcessHasChangedTheirWord) {
    if (const std::string why = obstacle(); !why.empty())
        GTEST_SKIP() << why;
    void *const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto &shared = *new (memory) Shared;
    const pid_t host = fork();
    if (host == 0)
        be_host(shared);
    while (!shared.waits.load() && waitpid(host, nullptr, WNOHANG) == 0)
        sched_yield();
    shared.word.store(1);
    kill(host, SIGURG);
    int status = 0;
    ASSERT_EQ(waitpid(host, &status, 0), host);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    munmap(memory, sizeof(Shared));
}

int count_threads() {
    int threads = 0;
    const std::filesystem::directory_iterator all("/proc/self/task");
    for ([[maybe_unused]] const auto &each : all)
        ++threads;
    return threads;
}

// In bytes.
// Without the heap, which a stream's buffer makes grow and shrink.
std::size_t mapped_size() {
    char text[64] = "";
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    EXPECT_GT(length, 0);
    return std::strtoull(text, nullptr, 10) * static_cast<std::size_t>(getpagesize());
}

// Of threads that are made from now on.
void set_stacks(std::size_t size) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

cpu_set_t first_cores(int count) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (int i = 0; i < count; ++i)
        CPU_SET(i, &cores);
    return cores;
}

// For calls that have to be made in a process of their own, since they leave threads and handlers
// of signals behind. `body` returns what its process exits with.
int exit_code_of(int (*body)()) {
    const pid_t child = fork();
    if (child == 0)
        _exit(body());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(RankFibers, WorkersThatCannotBeHadLeaveNoMemoryBehind) {
    if (const std::string why = obstacle(); !why.empty())
        GTEST_SKIP() << why;
    EXPECT_EQ(exit_code_of([] {
                  static Crew crew;
                  if (!crew.staff(first_cores(1)))
                      return 1;
                  set_stacks(std::size_t{1} << 50); // no thread has so much
                  const cpu_set_t cores = first_cores(4);
                  crew.staff(cores);
                  const std::size_t before = mapped_size();
                  for (int i = 0; i < 20; ++i)
                      if (!crew.staff(cores))
                          return 2;
                  return mapped_size() == before ? 0 : 3;
              }),
              0);
}

TEST(RankFibers, HaveOneWatcherThoughWorkersCannotBeHad) {
    if (const std::string why = obstacle(); !why.empty())
        GTEST_SKIP() << why;
    EXPECT_EQ(exit_code_of([] {
                  static Crew crew;
                  const cpu_set_t cores = first_cores(1);
                  constexpr std::size_t stack = std::size_t{64} << 10;
                  set_stacks(stack);
                  for (int i = 0; i < 3; ++i) {
                      // Enough for the watcher, not for the stacks of a worker.
                      const rlim_t most = mapped_size() + stack + stack / 2;
                      const rlimit limit = {most, RLIM_INFINITY};
                      setrlimit(RLIMIT_AS, &limit);
                      const bool is_staffed = crew.staff(cores);
                      const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
                      setrlimit(RLIMIT_AS, &none);
                      if (is_staffed)
                          return 1;
                      if (count_threads() != 2)
                          return 2;
                  }
                  return 0;
              }),
              0);
}

TEST(RankFibers, OfTeamThreadsKnowTheProcessOnceTheHostHasToldIt) {
    static Crew crew;
    RankFiber *const main = crew.add();
    ASSERT_NE(main, nullptr);
    RankFiber *const thread = main->calls->enter(*main, 42);
    ASSERT_NE(thread, nullptr);
    EXPECT_EQ(thread->process_number(), 0);
    main->process.store(7);
    EXPECT_EQ(thread->process_number(), 7);
    EXPECT_EQ(main->process_number(), 7);
    EXPECT_EQ(main->calls->find(*main, 7), main) << "not the thread's";
    main->calls->leave(*thread);
    EXPECT_EQ(thread->process_number(), 0) << "nobody uses it";
    EXPECT_TRUE(crew.end(*main));
}

TEST(RankFibers, AreUsedAgainThoughSomebodyHasRungForThem) {
    static Crew crew;
    RankFiber *const first = crew.add();
    ASSERT_NE(first, nullptr);
    crew.ring(*first, nullptr);
    EXPECT_TRUE(crew.end(*first));
    crew.ring(*first, nullptr);
    EXPECT_EQ(crew.add(), first);
    EXPECT_EQ(first->stage.load(), Stage::home) << "where a ring has no effect";
    EXPECT_TRUE(crew.end(*first));
}

} // namespace
} // namespace sennit::virt
