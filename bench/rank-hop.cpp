// SPDX-License-Identifier: Apache-2.0
// What it takes to go from one rank fiber to the next, without MPI. Prints nanoseconds, the best
// of some samples.
//
//   rank-hop bare                         a switch of Boost.Context, a switch of ours
//   rank-hop WAY INDEX RANKS FILE         one of the ranks, each a virtual rank; a hop, by the
//   first
//
// A hop of the way `ring`: change a word, ring for who waits on it, wait oneself. `yield`: the next
// that can go on does. `ring-counted` and `yield-counted`: while the ranks' processor time is
// counted.
#include "ranks/fibers/call.h"
#include "ranks/fibers/rank_fiber.h"

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <sys/mman.h>

using namespace sennit::virt;
using boost::context::detail::fcontext_t;
using boost::context::detail::transfer_t;

namespace {

constexpr int kSamples = 15;
constexpr int kSwitches = 400'000;
constexpr int kHops = 100'000; // in all
constexpr std::size_t kStack = 1 << 16;

double now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

template <class Sample>
double best(Sample sample) {
    double least = sample();
    for (int i = 1; i < kSamples; ++i)
        least = std::min(least, sample());
    return least;
}

// ---- bare ---------------------------------------------------------------------------------------

void bounce(transfer_t from) {
    for (;;)
        from = boost::context::detail::jump_fcontext(from.fctx, nullptr);
}

double of_boost(char *stack) {
    fcontext_t other = boost::context::detail::make_fcontext(stack + kStack, kStack, bounce);
    return best([&] {
        const double begin = now_ns();
        for (int i = 0; i < kSwitches / 2; ++i)
            other = boost::context::detail::jump_fcontext(other, nullptr).fctx;
        return (now_ns() - begin) / kSwitches;
    });
}

void *g_here, *g_there;
std::uintptr_t g_thread;

void bounce_back() {
    for (;;)
        sennit_virt_switch(&g_there, g_here, g_thread);
}

// As sennit_virt_switch leaves a stack: control words, six registers, where to go on.
double of_ours(char *stack) {
    asm volatile("rdfsbase %0" : "=r"(g_thread));
    auto *const top = reinterpret_cast<std::uint64_t *>(stack + kStack) - 1;
    auto *const saved = top - 9; // on entry of a function the stack is 8 off a multiple of 16
    std::uint32_t vector = 0;
    std::uint16_t old = 0;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(vector), "=m"(old));
    saved[0] = vector | std::uint64_t{old} << 32;
    saved[7] = reinterpret_cast<std::uint64_t>(bounce_back);
    g_there = saved;
    return best([&] {
        const double begin = now_ns();
        for (int i = 0; i < kSwitches / 2; ++i)
            sennit_virt_switch(&g_here, g_there, g_thread);
        return (now_ns() - begin) / kSwitches;
    });
}

// ---- ranks --------------------------------------------------------------------------------------

constexpr int kMostRanks = 256;
struct Table {
    std::atomic<int> here;
    std::atomic<int> over;
    std::atomic<RankFiber *> fibers[kMostRanks];
    struct alignas(64) Word {
        std::atomic<std::uint32_t> passed;
    } words[kMostRanks];
};

class Member {
  public:
    Member(Table &table, int index, int ranks) : table_(table), index_(index), ranks_(ranks) {
        table.fibers[index].store(&own_);
        table.here.fetch_add(1);
        while (table.here.load() < ranks)
            sched_yield();
        next_ = table.fibers[(index + 1) % ranks].load();
    }

    void pass_on() {
        table_.words[(index_ + 1) % ranks_].passed.fetch_add(1);
        own_.calls->ring(*next_, &own_);
    }
    void wait() {
        const std::atomic<std::uint32_t> &word = table_.words[index_].passed;
        while (word.load() == seen_)
            own_.calls->wait(own_, {&word, seen_}, {}, 1'000'000'000);
        ++seen_;
    }
    void rounds(int count) {
        for (int i = 0; i < count; ++i) {
            if (index_ == 0)
                pass_on();
            wait();
            if (index_ != 0)
                pass_on();
        }
    }

    double ring() {
        const int count = kHops / ranks_;
        leave_home();
        return best([&] {
            const double begin = now_ns();
            rounds(count);
            return (now_ns() - begin) / count / ranks_;
        });
    }
    double yield() {
        const int count = kHops / ranks_;
        leave_home();
        if (index_ != 0) {
            while (table_.over.load() == 0)
                own_.calls->yield(own_);
            return 0;
        }
        const double result = best([&] {
            const double begin = now_ns();
            for (int i = 0; i < count; ++i)
                own_.calls->yield(own_);
            return (now_ns() - begin) / count / ranks_;
        });
        table_.over.store(1);
        return result;
    }

  private:
    void leave_home() {
        const std::atomic<std::uint32_t> never{0};
        own_.calls->wait(own_, {&never, 0}, {}, 1'000'000);
        rounds(10);
    }

    Table &table_;
    const int index_;
    const int ranks_;
    RankFiber &own_ = *own_fiber();
    RankFiber *next_ = nullptr;
    std::uint32_t seen_ = 0;
};

} // namespace

int main(int count, char **words) {
    if (count == 2 && std::strcmp(words[1], "bare") == 0) {
        const std::unique_ptr<char, decltype(&std::free)> stack(
            static_cast<char *>(std::aligned_alloc(64, kStack)), std::free);
        const double boost = of_boost(stack.get());
        std::printf("%.1f %.1f\n", boost, of_ours(stack.get()));
        return 0;
    }
    if (count != 5 || !own_fiber())
        return 2;
    const int index = std::atoi(words[2]);
    const int ranks = std::atoi(words[3]);
    const int file = open(words[4], O_RDWR);
    void *const memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (ranks < 2 || ranks > kMostRanks || memory == MAP_FAILED)
        return 2;
    Member member(*static_cast<Table *>(memory), index, ranks);
    if (std::strstr(words[1], "-counted"))
        own_fiber()->calls->work_ns(*own_fiber(), ClockUse::account);
    const double hop = std::strncmp(words[1], "ring", 4) == 0 ? member.ring() : member.yield();
    if (index == 0)
        std::printf("%.1f\n", hop);
    return 0;
}
