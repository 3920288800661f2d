// SPDX-License-Identifier: Apache-2.0
#include "fiber/stack.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sennit::fiber {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kKeptHot = 4 * kPage;
std::size_t g_stack_size = 8 * 1024 * 1024;
std::atomic<std::uint64_t> g_live{0};

// What stacks leave for everybody else: a task that gets no stack waits on top of another one, but
// memory for a new task, or for the program's own malloc, has nothing to fall back on.
constexpr std::uint64_t kAddressesLeft = 16 * 1024 * 1024;
constexpr std::uint64_t kMappingsLeft = 2048;
constexpr std::uint64_t kMappingsPerStack = 2; // the stack and its guard
constexpr std::uint64_t kFew = 1024;           // stacks that nobody needs to count

// The first number in a file of /proc; `otherwise` where there is none.
std::uint64_t read_number(const char *path, std::uint64_t otherwise) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return otherwise;
    char text[32] = {};
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Is there room for one stack more below vm.max_map_count?
bool mappings_left() {
    const std::uint64_t live = g_live.load(std::memory_order_relaxed);
    if (live < kFew)
        return true;
    static const std::uint64_t most = read_number("/proc/sys/vm/max_map_count", UINT64_MAX);
    return live * kMappingsPerStack + kMappingsLeft < most;
}

// Is there room for `claimed` bytes more below RLIMIT_AS? They are the bytes that other threads,
// and this one, are about to map: such a stack may count twice for a moment, never not at all.
bool addresses_left(std::uint64_t claimed) {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return true;
    const std::uint64_t mapped = read_number("/proc/self/statm", 0) * kPage;
    return mapped + claimed + kAddressesLeft <= limit.rlim_cur;
}

std::atomic<std::uint64_t> g_claimed{0};

// The mapping of a stack of `size` bytes and its guard; MAP_FAILED where it would not leave enough.
void *map_if_room(std::uint64_t size) {
    void *raw = MAP_FAILED;
    const std::uint64_t claimed = g_claimed.fetch_add(size, std::memory_order_relaxed) + size;
    if (mappings_left() && addresses_left(claimed))
        raw = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    g_claimed.fetch_sub(size, std::memory_order_relaxed);
    return raw;
}

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
    void *raw = map_if_room(size + kPage);
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
