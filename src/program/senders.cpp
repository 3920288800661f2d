// SPDX-License-Identifier: Apache-2.0
#include "program/senders.h"

#include "program/code.h"
#include "program/marks.h"

namespace sennit::program {

std::optional<bool> known_to_send(const void *entry) {
    if (const std::optional<Marks> marks = marks_of(entry)) {
        if (marks->sends)
            return true;
        if (marks->all_known)
            return false;
    }
    return calls_send(entry);
}

namespace detail {

constinit Kinds g_kinds;

SENNIT_COLD void Kinds::forget() {
    forgetting_.lock();
    loads_.look([this] {
        for (std::atomic<std::uintptr_t> &kind : kinds_)
            kind.store(0, std::memory_order_relaxed);
        marked_.store(any_marks(), std::memory_order_relaxed);
    });
    forgetting_.unlock();
}

std::size_t Kinds::place_of(std::uintptr_t entry) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(entry * kGolden >> 32) % kPlaces;
}

SENNIT_COLD bool Kinds::look_up(const void *entry, std::atomic<std::uintptr_t> &kind) {
    const bool computes = marks_of(entry) == Marks{};
    std::uintptr_t free = 0;
    kind.compare_exchange_strong(free, reinterpret_cast<std::uintptr_t>(entry) << 1 | computes,
                                 std::memory_order_relaxed);
    return computes;
}

bool Kinds::find(const void *entry) {
    if (loads_.any_new())
        forget();
    const auto address = reinterpret_cast<std::uintptr_t>(entry);
    std::size_t place = place_of(address);
    for (std::size_t i = 0; i < kTries; ++i, place = (place + 1) % kPlaces) {
        const std::uintptr_t kind = kinds_[place].load(std::memory_order_relaxed);
        if (kind >> 1 == address)
            return kind & 1;
        if (kind == 0)
            return look_up(entry, kinds_[place]);
    }
    return false;
}

} // namespace detail
} // namespace sennit::program
