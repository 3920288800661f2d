// SPDX-License-Identifier: Apache-2.0
// Rank fibers that wait for somebody who is not in their address space (virt/turns.h).
#include "virt/crew.h"
#include "virt/support.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sennit::virt {
namespace {

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
    while (flow.fiber->place.load() != Place::waiting)
        sched_yield();
    shared.waits.store(true);
    for (;;)
        pause();
}

TEST(RankFibers, GoOnWhenAnotherProcessHasChangedTheirWord) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer does not know that flows change their threads";
#endif
    if (const std::string why = impediment(); !why.empty())
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

// A rank that rings for a fiber may be killed in the midst of it. Then nobody's ring comes to the
// fiber any more, so the next rank needs another one.
TEST(RankFibers, AreNotUsedAgainWhileARingForThemIsUnderWay) {
    static Crew crew;
    RankFiber *const first = crew.add();
    ASSERT_NE(first, nullptr);
    first->rung.store(1);
    EXPECT_TRUE(crew.end(*first));
    RankFiber *const second = crew.add();
    ASSERT_NE(second, nullptr);
    EXPECT_NE(second, first);
    first->rung.store(0);
    EXPECT_EQ(crew.add(), first);
}

} // namespace
} // namespace sennit::virt
