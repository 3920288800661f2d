// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/fiber.h"

#include "base/assert.h"
#include "base/config.h"
#include "base/loaded_object.h"
#include "base/message.h"
#include "base/virtual_rank.h"
#include "tasks/fiber/stack.h"
#include "tasks/sched/processors.h"
#include "tasks/sched/worker.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <sys/single_threaded.h>

namespace sennit::sched {

// The fibers of a worker: made, listed for reports, kept for the next task that waits, unmapped.

Fiber *Worker::make_fiber() {
    const fiber::Stack stack = fiber::map_stack();
    if (!stack) {
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
    fiber->home = this;
    fiber->thread = thread_id();
    list(*fiber);
    if (SENNIT_UNLIKELY(fiber::executable()) && !stack.packed)
        fiber::make_executable(stack.low, stack.size);
    fiber::make(fiber->context, stack.low, top - reinterpret_cast<std::uintptr_t>(stack.low),
                fiber_main);
    SENNIT_ASSERT(fiber->state.step(FiberState::taken));
    return fiber;
}

// A fiber may come to something that another fiber has half done, as a second thread may. So the
// C++ library is told that there may be several threads. Otherwise it takes a static variable that
// is still being initialized for a mistake.
void Worker::list(Fiber &fiber) {
    if (__libc_single_threaded) // without threads, so nobody else writes it
        __libc_single_threaded = 0;
    fibers_lock_.lock();
    fiber.listed_next = fibers_;
    fiber.listed_at = &fibers_;
    if (fibers_)
        fibers_->listed_at = &fiber.listed_next;
    fibers_ = &fiber;
    ++stacks_;
    fibers_lock_.unlock();
}

void Worker::unlist(Fiber &fiber) {
    fibers_lock_.lock();
    *fiber.listed_at = fiber.listed_next;
    --stacks_;
    if (fiber.listed_next)
        fiber.listed_next->listed_at = fiber.listed_at;
    fibers_lock_.unlock();
}

void Worker::make_stacks_executable() {
    fiber::make_packed_executable();
    for (Worker &worker : all())
        worker.each_fiber([](const Fiber &fiber) {
            if (fiber.stack && !fiber.stack.packed)
                fiber::make_executable(fiber.stack.low, fiber.stack.size);
        });
}

// Free stacks that are kept whatever happens.
int Worker::cache_floor() {
    constexpr int kFew = 64;
    const long given = config().stack_cache;
    return given < 0 ? kFew : static_cast<int>(given);
}

// Unmap free stacks, not more than `most` at once. A peak of suspended tasks tends to come again.
// To map a stack, touch it and unmap it takes ten times as long as to use one again. So only stacks
// go that were not needed through a whole period. All go where the option or the process's memory
// sets a limit.
void Worker::trim_cache(int most) {
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
        unmap_free(more);
        surplus_ -= more;
    }
}

void Worker::unmap_free(int most) {
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

// The owner ends. True: nothing of it is left, on a stack or in a list, that another thread could
// not take over. Fibers that wait for work end here, too.
bool Worker::abandon() {
    unmap_free(cached_);
    if (current() != &root_ || fibers_ || ready_head_ || next_ ||
        (slots_ && slots_->next_of_worker))
        return false;
    if (slots_)
        leave(*slots_);
    slot = nullptr;
    task = nullptr;
    return true;
}

namespace {

constexpr const char *kName = "__cxa_get_globals";

// Does the program get its C++ runtime from a shared library?
bool needs_shared_runtime(const link_map &program) {
    return DynamicSection(program).needs([](const char *name) {
        return std::strncmp(name, "libstdc++.", 10) == 0 || std::strncmp(name, "libc++", 6) == 0;
    });
}

} // namespace

ExceptionGlobals find_exception_globals() {
    link_map *program = nullptr;
    if (void *self = dlopen(nullptr, RTLD_LAZY)) {
        dlinfo(self, RTLD_DI_LINKMAP, &program);
        dlclose(self);
    }
    // If the runtime was linked statically, the dynamic symbols do not name it.
    if (program && program->l_ld && !needs_shared_runtime(*program)) {
        ElfFile file(program_file());
        ElfW(Sym) symbol;
        const bool found = file.find_function(
            [](const char *name, const ElfW(Sym) &) { return std::strcmp(name, kName) == 0; },
            &symbol);
        file.close_file();
        if (found)
            return reinterpret_cast<ExceptionGlobals>(program->l_addr + symbol.st_value);
    }
    return reinterpret_cast<ExceptionGlobals>(dlsym(RTLD_DEFAULT, kName));
}

} // namespace sennit::sched
