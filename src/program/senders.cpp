// SPDX-License-Identifier: Apache-2.0
#include "program/senders.h"

#include "base/spin.h"
#include "program/code.h"
#include "program/marks.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sennit::program {

namespace detail {
Loads g_loads;
std::atomic<bool> g_marked{false};
} // namespace detail

namespace {

using detail::g_loads;
using detail::g_marked;

// Kinds of tasks of which it is known whether they only compute: entry << 1 | answer, 0: free. A
// word is written once, and by itself tells all, so it is read and written relaxed. Where a kind
// finds no place, it is taken for one that may wait.
constexpr std::size_t kKinds = 512, kTries = 8;
std::atomic<std::uintptr_t> g_kinds[kKinds];
SpinLock g_loads_lock;

SENNIT_COLD void forget_kinds() {
    g_loads_lock.lock();
    g_loads.look([] {
        for (std::atomic<std::uintptr_t> &kind : g_kinds)
            kind.store(0, std::memory_order_relaxed);
        g_marked.store(any_marks(), std::memory_order_relaxed);
    });
    g_loads_lock.unlock();
}

std::size_t place_of(std::uintptr_t entry) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(entry * kGolden >> 32) % kKinds;
}

SENNIT_COLD bool look_up(const void *entry, std::atomic<std::uintptr_t> &kind) {
    const bool computes = marks_of(entry) == Marks{};
    std::uintptr_t free = 0;
    kind.compare_exchange_strong(free, reinterpret_cast<std::uintptr_t>(entry) << 1 | computes,
                                 std::memory_order_relaxed);
    return computes;
}

} // namespace

std::optional<bool> known_to_send(const void *entry) {
    if (const std::optional<Marks> marks = marks_of(entry)) {
        if (marks->sends)
            return true;
        if (marks->all_known)
            return false;
    }
    return calls_send(entry);
}

bool detail::kind_computes(const void *entry) {
    if (g_loads.any_new())
        forget_kinds();
    const auto address = reinterpret_cast<std::uintptr_t>(entry);
    std::size_t place = place_of(address);
    for (std::size_t i = 0; i < kTries; ++i, place = (place + 1) % kKinds) {
        const std::uintptr_t kind = g_kinds[place].load(std::memory_order_relaxed);
        if (kind >> 1 == address)
            return kind & 1;
        if (kind == 0)
            return look_up(entry, g_kinds[place]);
    }
    return false;
}

} // namespace sennit::program
