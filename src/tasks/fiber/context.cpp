// SPDX-License-Identifier: Apache-2.0
#include "tasks/fiber/context.h"

#include "base/rank.h"

#include <pthread.h>

// Where valgrind is installed, it is told of our stacks: a few instructions a stack, that do
// nothing outside of valgrind. Else it takes a switch for a huge change of the stack pointer.
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, end) 0
#define VALGRIND_STACK_DEREGISTER(number) static_cast<void>(number)
#endif

// The sanitizers that the program, or this library, is built with; null without them.
extern "C" {
#define SENNIT_IF_THERE [[gnu::weak]]
SENNIT_IF_THERE void __sanitizer_start_switch_fiber(void **kept, const void *low, std::size_t size);
SENNIT_IF_THERE void __sanitizer_finish_switch_fiber(void *kept, const void **low,
                                                     std::size_t *size);
SENNIT_IF_THERE void __asan_unpoison_memory_region(const volatile void *low, std::size_t size);
SENNIT_IF_THERE void *__tsan_get_current_fiber();
SENNIT_IF_THERE void *__tsan_create_fiber(unsigned flags);
SENNIT_IF_THERE void __tsan_destroy_fiber(void *fiber);
SENNIT_IF_THERE void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#undef SENNIT_IF_THERE
}

namespace sennit::fiber {
namespace {

using boost::context::detail::transfer_t;

// Is there a sanitizer? Asked at each switch, so in memory of our own. Known from the first
// adopt_thread() on, which comes before any other context; written only if it is true.
constinit bool g_watched = false;

bool is_watched() {
    return __atomic_load_n(&g_watched, __ATOMIC_RELAXED);
}

void look_for_sanitizers() {
    if (!is_watched() && (__sanitizer_start_switch_fiber || __tsan_switch_to_fiber))
        __atomic_store_n(&g_watched, true, __ATOMIC_RELAXED);
}

// On the new stack: record where the old flow of control left off.
inline void arrive(transfer_t from) {
    static_cast<Context *>(from.data)->pointer = from.fctx;
}

inline void tell_arrival(const Context &self) {
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(self.sanitizer_stack, nullptr, nullptr);
}

// The topmost words of a fresh stack hold what its first entry needs; see make().
struct FirstFrame {
    Context *self;
    EntryFunction entry;
};

// The context that is being entered for the first time; set by switch_to just before the jump, read
// by enter() on the same thread.
SENNIT_TLS Context *t_entering;

SENNIT_NO_ASAN void enter(transfer_t from) {
    Context &self = *t_entering;
    arrive(from);
    if (SENNIT_UNLIKELY(is_watched()))
        tell_arrival(self);
    const auto *top = static_cast<const std::byte *>(self.stack_low) + self.stack_size;
    (reinterpret_cast<const FirstFrame *>(top) - 1)->entry(self);
    __builtin_unreachable();
}

} // namespace

void make(Context &context, void *low, std::size_t size, EntryFunction entry) {
    context.stack_low = low;
    context.stack_size = size;
    // What an earlier stack at this address left in the shadow memory.
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(low, size);
    auto *top = static_cast<std::byte *>(low) + size;
    auto *frame = reinterpret_cast<FirstFrame *>(top) - 1;
    frame->self = &context;
    frame->entry = entry;
    // fcontext wants a 16-byte aligned top; FirstFrame is 16 bytes.
    context.pointer =
        boost::context::detail::make_fcontext(frame, size - sizeof(FirstFrame), enter);
    context.valgrind_stack = VALGRIND_STACK_REGISTER(low, top);
    if (__tsan_create_fiber)
        context.sanitizer_fiber = __tsan_create_fiber(0);
}

namespace {

// True if the calling thread is on the first stack of a virtual rank. The C library would read that
// stack's ends in the mappings of all ranks: if many start, each would read those of all others.
bool adopt_first_stack(Context &context) {
    const std::uintptr_t low = getauxval(kStackLowEntry);
    const std::uintptr_t high = getauxval(kStackHighEntry);
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (here < low || here >= high)
        return false;
    context.stack_low = reinterpret_cast<const void *>(low);
    context.stack_size = high - low;
    return true;
}

} // namespace

// A stack that the C library has made ends just below the thread's descriptor. By the size of the
// descriptor what is said here reaches into the guard page.
void adopt_thread(Context &context, std::size_t size) {
    look_for_sanitizers();
    if (is_watched())
        size = 0; // they have to know exactly
    pthread_attr_t attributes;
    if (size != 0) {
        context.stack_low = reinterpret_cast<const void *>(pthread_self() - size);
        context.stack_size = size;
    } else if (!adopt_first_stack(context) &&
               pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *low = nullptr;
        size_t size = 0;
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
        context.stack_low = low;
        context.stack_size = size;
    }
    if (__tsan_get_current_fiber)
        context.sanitizer_fiber = __tsan_get_current_fiber();
}

void forget(Context &context) {
    if (context.sanitizer_fiber && context.sanitizer_fiber != __tsan_get_current_fiber())
        __tsan_destroy_fiber(context.sanitizer_fiber);
    VALGRIND_STACK_DEREGISTER(context.valgrind_stack);
    context = Context{};
}

namespace {

inline void jump(Context &from, Context &to) {
    t_entering = &to;
#if defined(__x86_64__) // fcontext itself keeps it
    arrive(boost::context::detail::jump_fcontext(to.pointer, &from));
#else
    const FpControl mine = fp_control();
    arrive(boost::context::detail::jump_fcontext(to.pointer, &from));
    set_fp_control(mine);
#endif
}

// What was left here comes back here: whether there is a sanitizer does not change meanwhile.
SENNIT_COLD void jump_watched(Context &from, Context &to) {
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&from.sanitizer_stack, to.stack_low, to.stack_size);
    if (__tsan_switch_to_fiber)
        __tsan_switch_to_fiber(to.sanitizer_fiber, 0);
    jump(from, to);
    tell_arrival(from);
}

} // namespace

void switch_to(Context &from, Context &to) {
    if (SENNIT_UNLIKELY(is_watched()))
        return jump_watched(from, to);
    jump(from, to);
}

} // namespace sennit::fiber
