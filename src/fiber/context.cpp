// SPDX-License-Identifier: Apache-2.0
#include "fiber/context.h"

#include "fiber/fp_control.h"

#include <pthread.h>

// Where valgrind is installed, it is told of our stacks: a few instructions a stack, that do
// nothing outside of valgrind. Else it takes a switch for a huge change of the stack pointer.
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, end) 0
#define VALGRIND_STACK_DEREGISTER(number) static_cast<void>(number)
#endif

#if SENNIT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if SENNIT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace sennit::fiber {
namespace {

using boost::context::detail::transfer_t;

// On the new stack: record where the old flow of control left off.
inline void arrive([[maybe_unused]] Context &self, transfer_t from) {
    static_cast<Context *>(from.data)->pointer = from.fctx;
#if SENNIT_ASAN
    __sanitizer_finish_switch_fiber(self.sanitizer_stack, nullptr, nullptr);
#endif
}

// The topmost words of a fresh stack hold what its first entry needs; see make().
struct FirstFrame {
    Context *self;
    Entry entry;
};

// The context that is being entered for the first time; set by switch_to just before the jump, read
// by enter() on the same thread.
SENNIT_TLS Context *t_entering;

SENNIT_NO_ASAN void enter(transfer_t from) {
    Context &self = *t_entering;
    arrive(self, from);
    const auto *top = static_cast<const std::byte *>(self.stack_low) + self.stack_size;
    (reinterpret_cast<const FirstFrame *>(top) - 1)->entry(self);
    __builtin_unreachable();
}

} // namespace

void make(Context &context, void *low, std::size_t size, Entry entry) {
    context.stack_low = low;
    context.stack_size = size;
#if SENNIT_ASAN
    // What an earlier stack at this address left in the shadow memory.
    __asan_unpoison_memory_region(low, size);
#endif
    auto *top = static_cast<std::byte *>(low) + size;
    auto *frame = reinterpret_cast<FirstFrame *>(top) - 1;
    frame->self = &context;
    frame->entry = entry;
    // fcontext wants a 16-byte aligned top; FirstFrame is 16 bytes.
    context.pointer =
        boost::context::detail::make_fcontext(frame, size - sizeof(FirstFrame), enter);
    context.valgrind_stack = VALGRIND_STACK_REGISTER(low, top);
#if SENNIT_TSAN
    context.sanitizer_fiber = __tsan_create_fiber(0);
#endif
}

// A stack that the C library has made ends just below the thread's descriptor. By the size of the
// descriptor what is said here reaches into the guard page.
void adopt_thread(Context &context, std::size_t size) {
#if SENNIT_ASAN
    size = 0; // it has to know exactly
#endif
    pthread_attr_t attributes;
    if (size != 0) {
        context.stack_low = reinterpret_cast<const void *>(pthread_self() - size);
        context.stack_size = size;
    } else if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *low = nullptr;
        size_t size = 0;
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
        context.stack_low = low;
        context.stack_size = size;
    }
#if SENNIT_TSAN
    context.sanitizer_fiber = __tsan_get_current_fiber();
#endif
}

void forget(Context &context) {
#if SENNIT_TSAN
    if (context.sanitizer_fiber && context.sanitizer_fiber != __tsan_get_current_fiber())
        __tsan_destroy_fiber(context.sanitizer_fiber);
#endif
    VALGRIND_STACK_DEREGISTER(context.valgrind_stack);
    context = Context{};
}

void switch_to(Context &from, Context &to) {
#if SENNIT_ASAN
    __sanitizer_start_switch_fiber(&from.sanitizer_stack, to.stack_low, to.stack_size);
#endif
#if SENNIT_TSAN
    __tsan_switch_to_fiber(to.sanitizer_fiber, 0);
#endif
    t_entering = &to;
#if defined(__x86_64__) // fcontext itself keeps it
    arrive(from, boost::context::detail::jump_fcontext(to.pointer, &from));
#else
    const FpControl mine = fp_control();
    arrive(from, boost::context::detail::jump_fcontext(to.pointer, &from));
    set_fp_control(mine);
#endif
}

} // namespace sennit::fiber
