// SPDX-License-Identifier: Apache-2.0
#include "fiber/executable.h"

#include "base/loaded_object.h"
#include "base/message.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace sennit::fiber {
namespace {

std::atomic<bool> g_executable{false};
std::atomic<unsigned long long> g_loads{0}; // dlpi_adds at the last look

// As glibc decides: who says nothing needs it. The vdso was not loaded by it.
bool needs_executable(const LoadedObject &object) {
    if (object.base() == getauxval(AT_SYSINFO_EHDR))
        return false;
    const LoadedObject::Segment *const stack = object.find(PT_GNU_STACK);
    return !stack || (stack->p_flags & PF_X) != 0;
}

// Where nothing was loaded since the last look, the first object says so.
bool any_needs_executable() {
    enum : int { kGoOn, kSeen, kFound };
    return each_object([first = true](const LoadedObject &object) mutable -> int {
               if (first &&
                   g_loads.exchange(object.loads(), std::memory_order_relaxed) == object.loads())
                   return kSeen;
               first = false;
               return needs_executable(object) ? kFound : kGoOn;
           }) == kFound;
}

} // namespace

bool need_executable() {
    return !executable() && any_needs_executable() &&
           !g_executable.exchange(true, std::memory_order_seq_cst);
}

bool executable() {
    return g_executable.load(std::memory_order_seq_cst);
}

void make_executable(void *low, std::size_t size) {
    const int saved = errno;
    if (mprotect(low, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        static std::atomic<bool> said{false};
        if (!said.exchange(true, std::memory_order_relaxed))
            warn("the system refuses executable stacks for tasks (%s): nested functions and "
                 "internal procedures that tasks pass as arguments will crash; allow executable "
                 "memory",
                 std::strerror(errno));
    }
    errno = saved;
}

} // namespace sennit::fiber
