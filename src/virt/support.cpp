// SPDX-License-Identifier: Apache-2.0
#include "virt/support.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#endif

namespace sennit::virt {

std::string impediment_of(unsigned long features, bool dispatches) {
    constexpr unsigned long may_write_thread_pointer = 2; // HWCAP2_FSGSBASE
    if ((features & may_write_thread_pointer) == 0)
        return "rank fibers need FSGSBASE, which this processor or its kernel (Linux 5.9) has not: "
               "use --virtual alone";
    if (!dispatches)
        return "rank fibers need a kernel with syscall user dispatch (Linux 5.11): use --virtual "
               "alone";
    return "";
}

namespace {

// Each is tried in a way that does nothing. Without it a fiber would stay away from home for ever,
// or a worker with a fiber that spins.
[[maybe_unused]] const char *forbidden_call() {
    sigset_t none;
    sigemptyset(&none);
    constexpr timespec now{};
    if (sigtimedwait(&none, nullptr, &now) < 0 && errno != EAGAIN && errno != EINTR)
        return "rt_sigtimedwait";
    siginfo_t info{};
    info.si_code = SI_QUEUE;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), 0, &info) != 0)
        return "rt_tgsigqueueinfo";
    if (syscall(SYS_tgkill, getpid(), gettid(), 0) != 0)
        return "tgkill";
    stack_t stack{};
    if (sigaltstack(nullptr, &stack) != 0)
        return "sigaltstack";
    return nullptr;
}

} // namespace

std::string impediment() {
#if defined(__x86_64__)
    if (const char *const name = forbidden_call())
        return std::string("rank fibers need the system call ") + name +
               ", which this system forbids: use --virtual alone";
    return impediment_of(getauxval(AT_HWCAP2),
                         prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0);
#else
    return "rank fibers need an x86-64 processor: use --virtual alone";
#endif
}

} // namespace sennit::virt
