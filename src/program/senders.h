// SPDX-License-Identifier: Apache-2.0
// What a binary tells of a kind of tasks before its first task has run: the compiler's marks, and
// for sends, where they are silent, the machine code. Marks of some files say nothing about those
// of others.
#pragma once

#include "base/spin.h"
#include "program/loads.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sennit::program {

// True: such tasks send. False: they never do. Nothing: not known. Any thread.
std::optional<bool> known_to_send(const void *entry);

namespace detail {

// Kinds of tasks of which it is known whether they only compute. Each is looked up once; again when
// the process has loaded something, for the function may be another one then.
//
// A word is entry << 1 | answer, 0: free. It is written once, and by itself tells all, so it is
// read and written relaxed. Where a kind finds no place, it is taken for one that may wait.
class Kinds {
  public:
    bool computes(const void *entry) {
        if (!loads_.any_new() && SENNIT_LIKELY(!marked_.load(std::memory_order_relaxed)))
            return false;
        return find(entry);
    }

  private:
    static constexpr std::size_t kPlaces = 512, kTries = 8;
    static std::size_t place_of(std::uintptr_t entry);
    static bool look_up(const void *entry, std::atomic<std::uintptr_t> &kind);
    bool find(const void *entry);
    void forget();

    Loads loads_;
    std::atomic<bool> marked_{false}; // an object has marks; hardly ever
    SpinLock forgetting_;
    std::atomic<std::uintptr_t> kinds_[kPlaces] = {};
};
extern Kinds g_kinds;

} // namespace detail

// Do such tasks only compute: they never wait for anything, as the marks say? Asked of each task
// that is made in a hurry. Any thread.
inline bool known_to_compute(const void *entry) {
    return detail::g_kinds.computes(entry);
}

} // namespace sennit::program
