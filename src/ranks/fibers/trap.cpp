// SPDX-License-Identifier: Apache-2.0
#include "ranks/fibers/trap.h"

#include "base/system_call.h"
#include "ranks/fibers/call.h"
#include "ranks/fibers/fiber_rings.h"

#include <cstring>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

// Of the linker: all code of this program.
extern "C" const char __executable_start[];
extern "C" const char etext[];

namespace sennit::virt {
namespace {

constexpr int kTraps[] = {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGURG};

// As the kernel has it in a signal's frame (asm/ucontext.h, asm/sigcontext.h): libc's is longer.
struct Context {
    unsigned long flags;
    Context *link;
    stack_t stack;
    std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
        rflags;
    std::uint16_t cs, gs, fs, ss;
    std::uint64_t error, trap, old_mask, address;
    char *extended; // state of the vector units, in the form of XSAVE
    std::uint64_t reserved[8];
    std::uint64_t mask;
};
static_assert(sizeof(Context) == 304);

// How long that state is, from what the kernel has left in it for us (struct _fpx_sw_bytes).
std::size_t extended_size(const char *state) {
    constexpr std::size_t legacy = 512;
    constexpr std::size_t at = 464;
    constexpr std::uint32_t magic = 0x46505853;
    std::uint32_t words[2];
    std::memcpy(words, state + at, sizeof words);
    return words[0] == magic ? words[1] : legacy;
}

// Out of the way: the next signal of this carrier comes to the same stack. False: no room.
bool save(RankFiber &fiber, const Context &context) {
    constexpr std::size_t alignment = 64; // of XSAVE
    constexpr std::size_t offset = (sizeof(Context) + alignment - 1) / alignment * alignment;
    const std::size_t size = context.extended ? extended_size(context.extended) : 0;
    if (offset + size > fiber.frame_size)
        return false;
    auto *copy = reinterpret_cast<Context *>(fiber.frame_room);
    std::memcpy(copy, &context, sizeof context);
    if (size != 0) {
        copy->extended = fiber.frame_room + offset;
        std::memcpy(copy->extended, context.extended, size);
    }
    fiber.frame = copy;
    return true;
}

bool is_ours(std::uint64_t instruction) {
    return instruction >= reinterpret_cast<std::uint64_t>(__executable_start) &&
           instruction < reinterpret_cast<std::uint64_t>(etext);
}

bool reads_common_clock(std::uint64_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ||
           (clock >= CLOCK_MONOTONIC_RAW && clock <= CLOCK_BOOTTIME);
}

bool wakes_only(std::uint64_t operation) {
    const auto command = static_cast<int>(operation) & FUTEX_CMD_MASK;
    return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP ||
           command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE;
}

// Has the call the same effect from every thread of the address space, and does it not block?
bool is_anybodys(const Context &context) {
    switch (context.rax) {
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_mremap:
    case SYS_process_vm_readv: // by the user's rights
    case SYS_process_vm_writev:
    case SYS_shmat: // likewise; UCX attaches a rank's memory before the first message to it
    case SYS_shmdt:
    case SYS_gettimeofday:
    case SYS_time:
        return true;
    case SYS_mmap:
        return (context.r10 & MAP_ANONYMOUS) != 0;
    case SYS_shmctl:
        return context.rsi == IPC_STAT;
    case SYS_clock_gettime:
    case SYS_clock_getres:
        return reads_common_clock(context.rdi);
    case SYS_futex:
        return wakes_only(context.rsi);
    case SYS_membarrier:
        return context.rdi == MEMBARRIER_CMD_PRIVATE_EXPEDITED;
    default:
        return false;
    }
}

std::uint64_t make_call(const Context &context) {
    return static_cast<std::uint64_t>(call(static_cast<long>(context.rax), context.rdi, context.rsi,
                                           context.rdx, context.r10, context.r8, context.r9));
}

[[noreturn]] void leave(Carrier &carrier, LeaveReason reason) {
    carrier.reason = reason;
    sennit_virt_leave(carrier.stack_pointer, carrier.thread_pointer);
}

// A fault of ours: as if there were no handler.
void die(int signal) {
    const KernelAction action;
    call(SYS_rt_sigaction, signal, reinterpret_cast<long>(&action), 0, sizeof action.mask);
}

// Out of the handler of SIGURG, which is blocked there.
[[noreturn]] void leave_unblocked(Carrier &carrier, LeaveReason reason) {
    const std::uint64_t urgent = std::uint64_t{1} << (SIGURG - 1);
    call(SYS_rt_sigprocmask, SIG_UNBLOCK, reinterpret_cast<long>(&urgent), 0, sizeof urgent);
    leave(carrier, reason);
}

void look_at(Carrier &carrier, RankFiber &fiber, const Context &context) {
    if (fiber.doomed.load(std::memory_order_acquire) != 0)
        leave_unblocked(carrier, LeaveReason::gone);
    if (fiber.wanted_home.load(std::memory_order_acquire) != 0) {
        if (save(fiber, context))
            leave_unblocked(carrier, LeaveReason::home);
    } else if (carrier.preempt.exchange(0, std::memory_order_relaxed) != 0 &&
               save(fiber, context)) {
        leave_unblocked(carrier, LeaveReason::yields);
    }
}

void system_call_of(Carrier &carrier, RankFiber &fiber, Context &context) {
    switch (context.rax) {
    case SYS_getpid:
        context.rax = static_cast<std::uint64_t>(fiber.process_number());
        return;
    case SYS_gettid:
        context.rax = static_cast<std::uint64_t>(fiber.thread.load(std::memory_order_relaxed));
        return;
    case SYS_sched_yield:
        // Where no rank can go on, to the ranks' threads: they share the core with the carriers.
        if (!fiber.rings->others_ready())
            context.rax = make_call(context);
        else if (context.rax = 0; save(fiber, context))
            leave(carrier, LeaveReason::yields);
        return;
    default:
        break;
    }
    if (is_anybodys(context)) {
        context.rax = make_call(context);
        return;
    }
    constexpr std::uint64_t length_of_syscall = 2;
    context.rip -= length_of_syscall;
    if (!save(fiber, context))
        die(SIGSYS);
    leave(carrier, LeaveReason::home);
}

void trap(int signal, siginfo_t *info, void *frame) {
    auto &context = *static_cast<Context *>(frame);
    Carrier &carrier = *carrier_of_stack(&context);
    RankFiber *const fiber = carrier.fiber.load(std::memory_order_relaxed);
    const bool ours = !fiber || is_ours(context.rip);
    if (signal == SIGURG) {
        if (info->si_code == SI_USER) // a poke is for a thread: SI_TKILL
            carrier.rings->hear_abroad();
        if (!ours)
            look_at(carrier, *fiber, context);
        return;
    }
    if (signal == SIGSYS) {
        if (ours)
            context.rax = make_call(context);
        else
            system_call_of(carrier, *fiber, context);
        return;
    }
    if (ours)
        return die(signal);
    if (signal == SIGTRAP && info->si_code == SI_KERNEL)
        --context.rip; // int3 comes after the fact
    if (!save(*fiber, context))
        return die(signal);
    leave(carrier, LeaveReason::home);
}

std::uint64_t all_but_traps() {
    std::uint64_t mask = ~std::uint64_t{0};
    for (const int signal : kTraps)
        mask &= ~(std::uint64_t{1} << (signal - 1));
    return mask;
}

// Above the carrier itself.
stack_t signal_stack_of(const Carrier &carrier) {
    constexpr std::size_t head = 4096;
    static_assert(sizeof(Carrier) <= head);
    stack_t stack{};
    stack.ss_sp = const_cast<char *>(reinterpret_cast<const char *>(&carrier)) + head;
    stack.ss_size = kSignalStack - head;
    return stack;
}

} // namespace

bool set_traps() {
    // The mask of the thread stays as it is, for the handler may never return.
    KernelAction action = {.handler = reinterpret_cast<std::uintptr_t>(trap),
                           .flags =
                               SA_SIGINFO | SA_ONSTACK | SA_NODEFER | KernelAction::kHasRestorer,
                           .restorer = sennit_virt_restorer};
    bool well = true;
    for (const int signal : kTraps) {
        // Others may send one after the other: each would interrupt the handler of the last one.
        action.mask = signal == SIGURG ? std::uint64_t{1} << (SIGURG - 1) : 0;
        well = call(SYS_rt_sigaction, signal, reinterpret_cast<long>(&action), 0,
                    sizeof action.mask) == 0 &&
               well;
    }
    return well;
}

bool begin_traps(Carrier &carrier) {
    const stack_t stack = signal_stack_of(carrier);
    const std::uint64_t mask = all_but_traps();
    return call(SYS_sigaltstack, reinterpret_cast<long>(&stack), 0) == 0 &&
           call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, sizeof mask) ==
               0 &&
           call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
                reinterpret_cast<long>(sennit_virt_calls_begin),
                sennit_virt_calls_end - sennit_virt_calls_begin, 0) == 0;
}

void fit_frame(void *frame, const Carrier &carrier) {
    auto &context = *static_cast<Context *>(frame);
    context.mask = all_but_traps();
    context.stack = signal_stack_of(carrier);
}

void fit_frame(void *frame, const RankFiber &home) {
    auto &context = *static_cast<Context *>(frame);
    context.mask = home.signal_mask;
    static_assert(sizeof context.stack == sizeof home.alternate_stack);
    std::memcpy(&context.stack, home.alternate_stack, sizeof context.stack);
}

} // namespace sennit::virt
