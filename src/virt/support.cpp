// SPDX-License-Identifier: Apache-2.0
#include "virt/support.h"

#include <sys/auxv.h>
#include <sys/prctl.h>

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

std::string impediment() {
#if defined(__x86_64__)
    return impediment_of(getauxval(AT_HWCAP2),
                         prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0) == 0);
#else
    return "rank fibers need an x86-64 processor: use --virtual alone";
#endif
}

} // namespace sennit::virt
