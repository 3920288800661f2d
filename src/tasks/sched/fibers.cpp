// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/fibers.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/message.h"
#include "tasks/fiber/stack.h"
#include "tasks/sched/processors.h"
#include "tasks/trace/trace.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <new>
#include <unistd.h>

namespace sennit::sched {

Fiber *Fibers::make() {
    const fiber::Stack stack = fiber::map_stack();
    if (!stack) {
        trace::refused_stack(fiber::stack_size(), fiber::live_stacks());
        static std::atomic<bool> said{false};
        if (!said.exchange(true, std::memory_order_relaxed))
            warn("no memory for another task stack (%zu bytes; %llu in use): from now on a task "
                 "may run on top of a waiting one and delay it; lower OMP_STACKSIZE or raise "
                 "'ulimit -v' or vm.max_map_count",
                 fiber::stack_size(), static_cast<unsigned long long>(fiber::live_stacks()));
        return nullptr;
    }
    auto top = reinterpret_cast<std::uintptr_t>(stack.low) + stack.size - sizeof(Fiber);
    top &= ~(kCacheLine - 1);
    auto *fiber = new (reinterpret_cast<void *>(top)) Fiber;
    fiber->stack = stack;
    fiber->home = root.home;
    fiber->thread = root.thread;
    list(*fiber);
    if (SENNIT_UNLIKELY(fiber::executable()) && !stack.packed)
        fiber::make_executable(stack.low, stack.size);
    fiber::make(fiber->context, stack.low, top - reinterpret_cast<std::uintptr_t>(stack.low),
                main_);
    SENNIT_ASSERT(fiber->state.step(FiberState::taken));
    note_empty(*fiber);
    return fiber;
}

// Libc's __libc_single_threaded, by name: what is linked here is our own (packaging/libc_floor.c).
// A libc before 2.32 has none.
static constinit char *g_single_threaded = nullptr; // written before a second thread is here

// Not when the first fiber is made: dlsym takes the loader's lock, and a library's constructor that
// holds this lock may wait for the thread that makes it.
void Fibers::setup() {
    g_single_threaded = static_cast<char *>(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
}

// A fiber may come to something that another fiber has half done, as a second thread may. So the
// C++ library is told that there may be several threads. Otherwise it takes a static variable that
// is still being initialized for a mistake.
void Fibers::list(Fiber &fiber) {
    if (g_single_threaded && *g_single_threaded) // without threads, so nobody else writes it
        *g_single_threaded = 0;
    lock_.lock();
    fiber.listed_next = all_;
    fiber.listed_at = &all_;
    if (all_)
        all_->listed_at = &fiber.listed_next;
    all_ = &fiber;
    ++stacks_;
    lock_.unlock();
}

void Fibers::unlist(Fiber &fiber) {
    lock_.lock();
    *fiber.listed_at = fiber.listed_next;
    --stacks_;
    if (fiber.listed_next)
        fiber.listed_next->listed_at = fiber.listed_at;
    lock_.unlock();
}

// Free stacks that are kept whatever happens.
int Fibers::cache_floor() {
    constexpr int kFew = 64;
    const long given = config().stack_cache;
    return given < 0 ? kFew : static_cast<int>(given);
}

// Unmap free stacks, not more than `most` at once. A peak of suspended tasks tends to come again.
// To map a stack, touch it and unmap it takes ten times as long as to use one again. So only stacks
// go that were not needed through a whole period. All go where the option or the process's memory
// sets a limit.
void Fibers::trim(int most) {
    constexpr std::uint64_t kPeriodUs = 1'000'000;
    static const bool keep = config().stack_cache < 0 && !fiber::addresses_limited();
    const std::uint64_t now = ticks();
    if (!keep) {
        surplus_ = cached_;
    } else if (now >= period_end_) {
        surplus_ = least_cached_;
        least_cached_ = cached_;
        period_end_ = now + kPeriodUs * ticks_per_us();
    }
    const int more = std::min({most, surplus_, cached_ - cache_floor()});
    if (more > 0) {
        unmap(more);
        surplus_ -= more;
    }
}

void Fibers::unmap(int most) {
    for (; most > 0; --most) {
        Fiber *fiber = cache_;
        cache_ = fiber->next;
        least_cached_ = std::min(least_cached_, --cached_);
        SENNIT_ASSERT(fiber->state.is(FiberState::cached));
        const fiber::Stack stack = fiber->stack;
        unlist(*fiber);
        fiber::forget(fiber->context);
        fiber::unmap_stack(stack);
    }
}

void Fibers::adopt_thread(Worker &home, std::size_t stack_size, void **exceptions) {
    fiber::adopt_thread(root.context, stack_size);
    root.home = &home;
    // With the stacks of a thread that has ended, as by omp_pause_resource.
    each([thread = gettid()](Fiber &fiber) { fiber.thread = thread; });
    root.state.restart(FiberState::running);
    note_empty(root); // a lock of before is held until the thread's next region is over
    current_.store(&root, std::memory_order_relaxed);
    exceptions_ = exceptions;
    if (observed::by(observed::kRoaming) && !expects_roaming_) {
        expects_roaming_ = true;
        ++stacks_;
    }
}

// Another thread's report may have been looking at them. The system calls the thread by another
// number.
void Fibers::after_fork_in_child() {
    new (&lock_) SpinLock;
    each([](Fiber &fiber) { fiber.thread = gettid(); });
}

} // namespace sennit::sched
