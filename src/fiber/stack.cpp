// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack.h"

#include <atomic>
#include <cerrno>
#include <sys/mman.h>

namespace sennit::fiber {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kKeptHot = 4 * kPage;
std::size_t g_stack_size = 8 * 1024 * 1024;
std::atomic<std::uint64_t> g_live{0};

} // namespace

void set_stack_size(std::size_t bytes) {
    if (bytes < kMinimumStack)
        bytes = kMinimumStack;
    g_stack_size = (bytes + kPage - 1) & ~(kPage - 1);
}

std::size_t stack_size() {
    return g_stack_size;
}

Stack map_stack() {
    const int saved = errno;
    Stack stack;
    const std::size_t size = g_stack_size;
    void *raw = mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (raw != MAP_FAILED) {
        // A process has a limited number of mappings (vm.max_map_count); a stack without a guard
        // would turn an overflow into a silent wrong answer, so it counts as no stack.
        if (mprotect(raw, kPage, PROT_NONE) == 0) {
            stack.low = static_cast<char *>(raw) + kPage;
            stack.size = size;
            g_live.fetch_add(1, std::memory_order_relaxed);
        } else {
            munmap(raw, size + kPage);
        }
    }
    errno = saved;
    return stack;
}

void unmap_stack(Stack stack) {
    const int saved = errno;
    munmap(static_cast<char *>(stack.low) - kPage, stack.size + kPage);
    g_live.fetch_sub(1, std::memory_order_relaxed);
    errno = saved;
}

void trim_stack(Stack stack) {
    const int saved = errno;
    if (stack.size > kKeptHot)
        madvise(stack.low, stack.size - kKeptHot, MADV_DONTNEED);
    errno = saved;
}

std::uint64_t live_stacks() {
    return g_live.load(std::memory_order_relaxed);
}

} // namespace sennit::fiber
