// SPDX-License-Identifier: Apache-2.0
#include "ranks/inside/own_memory.h"

#include "base/compiler.h"
#include "base/spin.h"
#include "base/system_call.h"

#include <algorithm>
#include <atomic>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace sennit::loader::inside {
namespace {

constexpr std::uintptr_t kPage = 4096; // the smallest: a range of ours is never too long

AddressSet g_own;
std::atomic<bool> g_locked{false};
// A signal handler has unmapped something while its own thread held the lock.
std::atomic<bool> g_in_doubt{false};
SENNIT_TLS bool t_holds = false;

// Its holder makes bare system calls, and waits at most for the dynamic linker's lock, whose
// holder maps nothing by our functions. A signal handler does not get it from its own thread.
class Lock {
  public:
    Lock() : held_(!t_holds) {
        if (!held_)
            return;
        t_holds = true;
        for (int tries = 1; g_locked.exchange(true, std::memory_order_acquire); ++tries)
            if (tries % 64 == 0)
                system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
            else
                cpu_relax();
    }
    ~Lock() {
        if (!held_)
            return;
        if (g_in_doubt.exchange(false, std::memory_order_relaxed))
            g_own.clear(); // then nothing is known
        g_locked.store(false, std::memory_order_release);
        t_holds = false;
    }
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;
    explicit operator bool() const { return held_; }

  private:
    const bool held_;
};

Range loaded_object(const dl_phdr_info &object) {
    Range all = {~std::uintptr_t{0}, 0};
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr) &segment = object.dlpi_phdr[i];
        if (segment.p_type != PT_LOAD)
            continue;
        const std::uintptr_t start = object.dlpi_addr + segment.p_vaddr;
        all.low = std::min(all.low, start & ~(kPage - 1));
        all.high = std::max(all.high, (start + segment.p_memsz + kPage - 1) & ~(kPage - 1));
    }
    return all;
}

// The first part of `range` that the rank's dynamic linker has loaded.
Range first_loaded_part(Range range) {
    struct Search {
        Range range, found;
    } search = {range, {}};
    dl_iterate_phdr(
        [](dl_phdr_info *object, std::size_t, void *data) {
            auto &search = *static_cast<Search *>(data);
            const Range all = loaded_object(*object);
            const Range part = {std::max(all.low, search.range.low),
                                std::min(all.high, search.range.high)};
            if (!part.empty() && (search.found.empty() || part.low < search.found.low))
                search.found = part;
            return 0;
        },
        &search);
    return search.found;
}

// Not by libc's functions: this is no mapping of the program's.
bool map_if_free(Range range) {
    const long got = system_call(
        SYS_mmap, static_cast<long>(range.low), static_cast<long>(range.size()), PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == static_cast<long>(range.low))
        return true;
    if (got > 0) // before Linux 4.17
        system_call(SYS_munmap, got, static_cast<long>(range.size()), 0, 0, 0, 0);
    return false;
}

// The first part that is not written down, and if `looks` is set not loaded either.
Range first_gap(Range range, bool known, bool looks) {
    while (!range.empty()) {
        const Range unknown = known ? g_own.first_gap(range) : range;
        const Range loaded = looks ? first_loaded_part(unknown) : Range{};
        if (loaded.empty() || loaded.low > unknown.low)
            return {unknown.low, loaded.empty() ? unknown.high : loaded.low};
        range.low = loaded.high;
    }
    return range;
}

void unmap(Claimed &claimed) {
    for (std::size_t i = 0; i < claimed.count; ++i)
        system_call(SYS_munmap, static_cast<long>(claimed.parts[i].low),
                    static_cast<long>(claimed.parts[i].size()), 0, 0, 0, 0);
    claimed.count = 0;
}

} // namespace

Range pages_at(const void *at, std::size_t size) {
    const auto low = reinterpret_cast<std::uintptr_t>(at);
    const std::uintptr_t high = (low + size + kPage - 1) & ~(kPage - 1);
    return low % kPage == 0 && high > low && size <= high - low ? Range{low, high} : Range{};
}

void add_own(Range range) {
    if (const Lock lock; lock)
        g_own.add(range);
}

Range take_own(Range range) {
    const Lock lock;
    if (!lock) {
        g_in_doubt.store(true, std::memory_order_relaxed);
        return {};
    }
    const Range part = g_own.first_part(range);
    g_own.remove(part);
    return part;
}

// What is not written down may be a library of the rank's. What is neither has to be free.
bool claim(Range range, Claimed &claimed) {
    const Lock lock;
    const bool known = static_cast<bool>(lock);
    bool looks = false;
    bool well = true;
    for (Range rest = range; well;) {
        const Range gap = first_gap(rest, known, looks);
        if (gap.empty())
            break;
        if (claimed.count < Claimed::kMost && map_if_free(gap)) {
            claimed.parts[claimed.count++] = gap;
            rest.low = gap.high;
        } else {
            well = !looks;
            looks = true;
        }
    }
    if (!well)
        unmap(claimed);
    if (known)
        for (std::size_t i = 0; i < claimed.count; ++i)
            g_own.add(claimed.parts[i]);
    return well;
}

void give_back(Claimed &claimed) {
    if (const Lock lock; lock)
        for (std::size_t i = 0; i < claimed.count; ++i)
            g_own.remove(claimed.parts[i]);
    unmap(claimed);
}

} // namespace sennit::loader::inside
