// SPDX-License-Identifier: Apache-2.0
#include "tasks/sched/roaming.h"

#include "base/assert.h"
#include "base/message.h"
#include "base/observed.h"
#include "tasks/fiber/stack.h"
#include "tasks/sched/client.h"
#include "tasks/sched/worker.h"

#include <new>
#include <unistd.h>
#include <utility>

namespace sennit::sched {

constinit detail::AllRoaming detail::g_roaming;

static constinit RoamingTasks g_tasks;
RoamingTasks &roaming_tasks() {
    return g_tasks;
}

// ---- their memory -----------------------------------------------------------------------------

namespace {

constexpr int kFree = 64; // stacks that a worker keeps

// Each round is another task's body. The stack is a fixed place, and so is the fiber at its top;
// which thread runs here changes with every call.
SENNIT_NO_ASAN void main_of(fiber::Context & /*self*/) {
    auto &me = static_cast<RoamingFiber &>(*Worker::self()->current());
    for (;;) {
        me.body(me);
        Worker::leave_carrier(true);
    }
}

void list(Fiber &fiber) {
    const Guard guard(detail::g_roaming.lock);
    Fiber *&first = detail::g_roaming.first;
    fiber.listed_next = first;
    fiber.listed_at = &first;
    if (first)
        first->listed_at = &fiber.listed_next;
    first = &fiber;
}

void unlist(Fiber &fiber) {
    const Guard guard(detail::g_roaming.lock);
    *fiber.listed_at = fiber.listed_next;
    if (fiber.listed_next)
        fiber.listed_next->listed_at = fiber.listed_at;
}

RoamingFiber *make() {
    const fiber::Stack stack = fiber::map_stack();
    if (!stack)
        return nullptr;
    auto top = reinterpret_cast<std::uintptr_t>(stack.low) + stack.size - sizeof(RoamingFiber);
    top &= ~(kCacheLine - 1);
    auto *fiber = new (reinterpret_cast<void *>(top)) RoamingFiber;
    fiber->stack = stack;
    list(*fiber);
    if (SENNIT_UNLIKELY(fiber::executable()) && !stack.packed)
        fiber::make_executable(stack.low, stack.size);
    fiber::make(fiber->context, stack.low, top - reinterpret_cast<std::uintptr_t>(stack.low),
                main_of);
    return fiber;
}

void unmake(RoamingFiber &fiber) {
    const fiber::Stack stack = fiber.stack;
    unlist(fiber);
    fiber::forget(fiber.context);
    fiber::unmap_stack(stack);
}

} // namespace

RoamingFiber *RoamingFibers::take(void (*body)(RoamingFiber &self), Item *item) {
    RoamingFiber *fiber;
    if (free_) {
        fiber = static_cast<RoamingFiber *>(std::exchange(free_, free_->next));
        --count_;
    } else if (!(fiber = make())) {
        return nullptr;
    }
    SENNIT_ASSERT(fiber->state.step(FiberState::taken));
    fiber->locks_known = observed::by(observed::kLocks);
    fiber->body = body;
    fiber->item = item;
    fiber->control = fiber::fp_control();
    fiber->task = nullptr;
    return fiber;
}

void RoamingFibers::give_back(RoamingFiber &fiber) {
    SENNIT_ASSERT(fiber.state.step(FiberState::cached) && !fiber.carrying);
    if (count_ == kFree)
        return unmake(fiber);
    fiber.next = std::exchange(free_, &fiber);
    ++count_;
}

// The forking thread is the child's only one. What is away there is nobody's, as are the fibers of
// the threads that are gone.
void roaming_after_fork_in_child() {
    detail::g_roaming.lock.after_fork_in_child();
    each_roaming([](Fiber &fiber) { fiber.thread = gettid(); });
}

// ---- carried ----------------------------------------------------------------------------------

// From one to the other. Nothing stands after the switch: of a fiber that left here, the next line
// runs on the worker that carries it then.
static void cross(Worker &worker, Fiber &from, Fiber &to) {
    worker.fibers.make_current(from, to);
    if (SENNIT_UNLIKELY(from.stack.packed) && fiber::overflowed(from.stack))
        fatal("a task has overflown its stack of %zu bytes; raise OMP_STACKSIZE", from.stack.size);
    if (observed::by(observed::kWorkTime))
        worker.thread.count_work(from);
    if (observed::by_anybody())
        client().switched(worker, from, to);
    fiber::switch_to(from.context, to.context);
}

bool Worker::carry(RoamingFiber &fiber, Slot &where) {
    Fiber &me = *current();
    SENNIT_ASSERT(t_self_ == this && !fiber.carrying);
    SENNIT_ASSERT(me.state.step(FiberState::parked) && fiber.state.step(FiberState::running));
    me.task = task;
    me.slot = slot;
    fiber.carrying = &me;
    fiber.home = this;
    fiber.thread = me.thread;
    fiber.over = false;
    task = fiber.task;
    slot = &where;
    cross(*this, me, fiber);
    // It has left. This fiber has stayed.
    SENNIT_ASSERT(t_self_ == this && current() == &me && me.state.step(FiberState::running));
    task = me.task;
    slot = me.slot;
    return fiber.over;
}

SENNIT_NOINLINE void Worker::leave_carrier(bool over) {
    Worker &worker = *t_self_;
    auto &me = static_cast<RoamingFiber &>(*worker.current());
    Fiber &carrying = *std::exchange(me.carrying, nullptr);
    SENNIT_ASSERT(over || me.state.step(FiberState::parked));
    me.over = over;
    me.task = over ? nullptr : worker.task;
    worker.task = carrying.task;
    worker.slot = carrying.slot;
    cross(worker, me, carrying);
}

} // namespace sennit::sched
