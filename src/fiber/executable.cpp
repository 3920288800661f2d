// SPDX-License-Identifier: Apache-2.0
#include "fiber/executable.h"

#include "base/message.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

namespace sennit::fiber {
namespace {

std::atomic<bool> g_executable{false};
std::atomic<unsigned long long> g_loads{0}; // dlpi_adds at the last look

// As glibc decides: who says nothing needs it. The vdso was not loaded by it.
bool needs_executable(const dl_phdr_info &object) {
    if (object.dlpi_addr == getauxval(AT_SYSINFO_EHDR))
        return false;
    for (int i = 0; i < object.dlpi_phnum; ++i)
        if (object.dlpi_phdr[i].p_type == PT_GNU_STACK)
            return (object.dlpi_phdr[i].p_flags & PF_X) != 0;
    return true;
}

enum : int { kGoOn, kSeen, kFound };

int visit(dl_phdr_info *object, std::size_t, void *first) {
    if (*static_cast<bool *>(first) &&
        g_loads.exchange(object->dlpi_adds, std::memory_order_relaxed) == object->dlpi_adds)
        return kSeen;
    *static_cast<bool *>(first) = false;
    return needs_executable(*object) ? kFound : kGoOn;
}

} // namespace

bool need_executable() {
    bool first = true;
    return !executable() && dl_iterate_phdr(visit, &first) == kFound &&
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
