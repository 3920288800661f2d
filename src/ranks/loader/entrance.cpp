// SPDX-License-Identifier: Apache-2.0
#include "ranks/loader/entrance.h"

#include "base/open_files.h"
#include "base/system_call.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace sennit::loader {
namespace {

[[noreturn]] void give_up(Entrance &self, const char *step, long result) {
    *self.failure = {step, static_cast<int>(-result)};
    for (;;)
        system_call(SYS_exit_group, 127);
}

// From wherever the host has them to their numbers in the rank; all others are closed. First out of
// the way, since one's number may be another's present place.
void take_descriptors(Entrance &self) {
    for (unsigned i = 0; i < self.descriptor_count; ++i) {
        Entrance::Move &move = self.descriptors[i];
        const long moved = system_call(SYS_fcntl, move.from, F_DUPFD, self.first_free);
        if (moved < 0)
            give_up(self, "too many open files for it", moved);
        move.from = static_cast<int>(moved);
    }
    close_files(0, self.first_free - 1);
    for (unsigned i = 0; i < self.descriptor_count; ++i) {
        const Entrance::Move &move = self.descriptors[i];
        if (const long result = system_call(SYS_dup3, move.from, move.to, 0); result < 0)
            give_up(self, "its open files cannot be handed over", result);
    }
    close_files_from(self.first_free);
}

void take_signals(const Entrance &self) {
    KernelAction action;
    for (int signal = 1; signal <= 64; ++signal) {
        // None of the host's own handlers.
        action.handler = reinterpret_cast<std::uintptr_t>(
            self.ignored_signals >> (signal - 1) & 1 ? SIG_IGN : SIG_DFL);
        system_call(SYS_rt_sigaction, signal, &action, 0, sizeof action.mask);
    }
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, &self.blocked_signals, 0,
                sizeof self.blocked_signals);
}

[[noreturn]] void jump(void *stack_pointer, void *entry) {
#if defined(__x86_64__)
    // rdx: a function for atexit; there is none.
    asm volatile("mov %0, %%rsp\n\txor %%edx, %%edx\n\txor %%ebp, %%ebp\n\tjmp *%1"
                 :
                 : "r"(stack_pointer), "r"(entry)
                 : "memory", "rdx");
#elif defined(__aarch64__)
    asm volatile("mov sp, %0\n\tmov x0, #0\n\tmov x29, #0\n\tmov x30, #0\n\tbr %1"
                 :
                 : "r"(stack_pointer), "r"(entry)
                 : "memory", "x0");
#endif
    __builtin_unreachable();
}

} // namespace

int enter_rank(void *entrance) {
    Entrance &self = *static_cast<Entrance *>(entrance);
    system_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL); // no rank outlives its host
    if (system_call(SYS_getppid) != self.host)
        give_up(self, "its host has ended", 0);
    system_call(SYS_prctl, PR_SET_NAME, self.name);
    system_call(SYS_setpgid, 0, 0);
    system_call(SYS_umask, self.file_mask);
    if (const long result = system_call(SYS_fchdir, self.working_directory); result < 0)
        give_up(self, "it cannot enter its working directory", result);
    take_descriptors(self);
    for (int limit = 0; limit < RLIM_NLIMITS; ++limit)
        system_call(SYS_prlimit64, 0, limit, &self.limits[limit], 0);
    system_call(SYS_sched_setaffinity, 0, self.affinity_size, self.affinity);
    take_signals(self);
    jump(self.stack_pointer, self.entry);
}

} // namespace sennit::loader
