// SPDX-License-Identifier: Apache-2.0
#include "tasks/fiber/stack.h"

#include "base/array.h"
#include "base/compiler.h"
#include "base/loaded_object.h"
#include "base/message.h"
#include "base/observed.h"
#include "base/rank.h"
#include "base/small_file.h"
#include "base/spin.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sennit::fiber {
namespace {

constexpr std::size_t kPage = 4096;

// Their size, and how many there are in the process. The counts order nothing else: relaxed.
struct Stacks {
    std::size_t size = kUsualStack; // of a new one; set before there is any
    std::size_t of_threads = kUsualStack;
    bool by_default = true;
    std::atomic<std::uint64_t> live{0};
    std::atomic<std::uint64_t> guarded{0}; // of them, those with a guard page
    std::atomic<std::uint64_t> claimed{0}; // bytes that threads are about to map
};
constinit Stacks g_stacks;

// What stacks leave for everybody else: a task that gets no stack waits on top of another one, but
// memory for a new task, or for the program's own malloc, has nothing to fall back on.
constexpr std::uint64_t kAddressesLeft = 16 * 1024 * 1024;
constexpr std::uint64_t kMappingsPerStack = 2; // the stack and its guard
constexpr std::uint64_t kFew = 1024;           // stacks that nobody needs to count

// The first number in a file of /proc; `otherwise` where there is none.
std::uint64_t read_number(const char *path, std::uint64_t otherwise) {
    char text[32];
    return read_small_file(path, text, sizeof text) > 0 ? std::strtoull(text, nullptr, 10)
                                                        : otherwise;
}

std::uint64_t limit_of(__rlimit_resource resource) {
    rlimit limit{};
    return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool is_limited(__rlimit_resource resource) {
    return limit_of(resource) != RLIM_INFINITY;
}

// A stack may be refused from now on. The sooner this is said, the fewer tasks hold locks that
// were not counted.
void expect_refusals() {
    observed::set(observed::kLocks);
}

// What tells from the start that stacks may be refused.
void foresee_refusals() {
    if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA) || counts_promised_memory())
        expect_refusals();
}

// Is there room for one guarded stack more? They take half of the mappings that vm.max_map_count
// allows the process.
bool mappings_left() {
    const std::uint64_t guarded = g_stacks.guarded.load(std::memory_order_relaxed);
    if (guarded < kFew)
        return true;
    if (guarded * kMappingsPerStack < most_mappings() / 2)
        return true;
    expect_refusals(); // of packed ones
    return false;
}

// Is there room for `claimed` bytes more below RLIMIT_AS? They are the bytes that other threads,
// and this one, are about to map: such a stack may count twice for a moment, never not at all.
//
// Stacks take at most a third of what the program itself leaves: with each task that waits for a
// message, the tasks that follow it and the MPI library's messages need memory, too. Of half of it
// 20,000 receives, in 400 MB with MPICH, left too little in a quarter of the runs.
bool addresses_left(std::uint64_t claimed) {
    const std::uint64_t limit = limit_of(RLIMIT_AS);
    if (limit == RLIM_INFINITY)
        return true;
    expect_refusals();
    const std::uint64_t mapped = read_number("/proc/self/statm", 0) * kPage;
    const std::uint64_t stacks = g_stacks.live.load(std::memory_order_relaxed) * g_stacks.size;
    const std::uint64_t others = mapped - std::min(stacks, mapped);
    const std::uint64_t most = limit - std::min(others, limit);
    return stacks + claimed <= most / 3 && mapped + claimed + kAddressesLeft <= limit;
}

std::size_t whole_pages(std::size_t bytes) {
    return (std::max(bytes, kMinimumStack) + kPage - 1) & ~(kPage - 1);
}

// A mapping of `size` bytes whose first page is a guard; null where it would not leave enough.
char *map_guarded(std::uint64_t size) {
    void *raw = MAP_FAILED;
    const std::uint64_t claimed =
        g_stacks.claimed.fetch_add(size, std::memory_order_relaxed) + size;
    if (addresses_left(claimed))
        raw = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    g_stacks.claimed.fetch_sub(size, std::memory_order_relaxed);
    if (raw != MAP_FAILED && mprotect(raw, kPage, PROT_NONE) == 0)
        return static_cast<char *>(raw);
    if (raw != MAP_FAILED)
        munmap(raw, size); // no mapping is left for the guard
    expect_refusals();
    return nullptr;
}

// ---- packed stacks --------------------------------------------------------------------------

// Side by side in slabs that stay mapped; `free` lists those not in use.
struct Packed {
    static constexpr std::size_t kSlab = 64; // stacks
    SpinLock lock;
    Array<void *> free SENNIT_GUARDED_BY(lock);  // with room for all
    Array<void *> slabs SENNIT_GUARDED_BY(lock); // each after its guard page

    // More of them.
    bool grow(std::size_t size) SENNIT_REQUIRES(lock) {
        const std::size_t count = slabs.size() + 1;
        if (!free.reserve(count * kSlab) || !slabs.reserve(count))
            return false;
        char *slab = map_guarded(kSlab * size + kPage);
        if (!slab)
            return false;
        slab += kPage;
        for (std::size_t i = 0; i < kSlab; ++i)
            free.push(slab + i * size);
        slabs.push(slab);
        if (executable()) // asked under the lock, as need_executable()'s caller looks
            make_executable(slab, kSlab * size);
        return true;
    }
};
constinit Packed g_packed;

Stack take_packed() {
    Stack stack;
    const Guard guard(g_packed.lock);
    if (g_packed.free.size() > 0 || g_packed.grow(g_stacks.size)) {
        stack.low = static_cast<char *>(g_packed.free.back());
        g_packed.free.pop();
        stack.size = g_stacks.size;
        stack.packed = true;
    }
    return stack;
}

void give_back_packed(Stack stack) {
    madvise(stack.low, stack.size, MADV_DONTNEED);
    const Guard guard(g_packed.lock);
    g_packed.free.push(stack.low);
}

} // namespace

void make_packed_executable() {
    const Guard guard(g_packed.lock);
    for (void *slab : g_packed.slabs)
        make_executable(slab, Packed::kSlab * g_stacks.size);
}

void set_stack_size(std::size_t bytes) {
    foresee_refusals();
    g_stacks.size = g_stacks.of_threads = whole_pages(bytes);
    g_stacks.by_default = false;
}

std::size_t fiber_stack_size(std::size_t bytes, std::uint64_t addresses, bool promises_count,
                             bool shares) {
    // Half of a process's addresses, which are 2^47 bytes, for 65,536 stacks; 64 of them where
    // addresses are limited.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    constexpr std::uint64_t kMostOfMany = 64 << 20; // programs in one address space
    constexpr std::uint64_t kStacks = 64;
    std::uint64_t most = shares ? kMostOfMany : kMost;
    if (promises_count)
        most = kUsualStack;
    return std::min<std::uint64_t>(
        bytes, std::max<std::uint64_t>(std::min(most, addresses / kStacks), kUsualStack));
}

void set_default_stack_size(std::size_t bytes) {
    set_stack_size(bytes);
    g_stacks.by_default = true;
    if (bytes <= kUsualStack) // fibers have the same: nothing has to be asked
        return;
    static_assert(RLIM_INFINITY == UINT64_MAX); // "all addresses" for fiber_stack_size(), too
    g_stacks.size = whole_pages(
        fiber_stack_size(bytes, limit_of(RLIMIT_AS), counts_promised_memory(), is_virtual_rank()));
}

std::size_t stack_size() {
    return g_stacks.size;
}

std::size_t thread_stack_size() {
    return g_stacks.of_threads;
}

std::size_t smaller_stack(std::size_t refused) {
    return g_stacks.by_default && refused > kUsualStack ? kUsualStack : 0;
}

Stack map_stack() {
    const int saved = errno;
    Stack stack;
    if (mappings_left()) {
        std::size_t size = g_stacks.size;
        char *raw = map_guarded(size + kPage);
        if (!raw && (size = smaller_stack(size)) != 0)
            raw = map_guarded(size + kPage);
        if (raw) {
            stack.low = raw + kPage;
            stack.size = size;
            g_stacks.guarded.fetch_add(1, std::memory_order_relaxed);
        }
    } else {
        stack = take_packed();
    }
    if (stack)
        g_stacks.live.fetch_add(1, std::memory_order_relaxed);
    errno = saved;
    return stack;
}

void unmap_stack(Stack stack) {
    const int saved = errno;
    if (stack.packed) {
        give_back_packed(stack);
    } else {
        munmap(static_cast<char *>(stack.low) - kPage, stack.size + kPage);
        g_stacks.guarded.fetch_sub(1, std::memory_order_relaxed);
    }
    g_stacks.live.fetch_sub(1, std::memory_order_relaxed);
    errno = saved;
}

SENNIT_NO_ASAN bool overflowed(const Stack &stack) {
    constexpr std::size_t kWords = 16; // a frame may leave holes
    const auto *word = static_cast<const std::uint64_t *>(stack.low);
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < kWords; ++i)
        all |= word[i];
    return all != 0;
}

bool addresses_limited() {
    return is_limited(RLIMIT_AS);
}

std::uint64_t most_mappings() {
    static const std::uint64_t most = read_number("/proc/sys/vm/max_map_count", UINT64_MAX);
    return most;
}

std::uint64_t live_stacks() {
    return g_stacks.live.load(std::memory_order_relaxed);
}

void stacks_before_fork() SENNIT_ACROSS_FORK {
    g_packed.lock.lock();
}

void stacks_after_fork() SENNIT_ACROSS_FORK {
    g_packed.lock.unlock();
}

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
