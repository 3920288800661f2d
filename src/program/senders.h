// SPDX-License-Identifier: Apache-2.0
// What a binary tells of a kind of tasks before its first task has run: the compiler's marks, and
// for sends, where they are silent, the machine code. Marks of some files say nothing about those
// of others.
#pragma once

#include "program/loads.h"

#include <atomic>
#include <optional>

namespace sennit::program {

// True: such tasks send. False: they never do. Nothing: not known. Any thread.
std::optional<bool> known_to_send(const void *entry);

namespace detail {
extern Loads g_loads;
extern std::atomic<bool> g_marked; // an object has marks; hardly ever
bool kind_computes(const void *entry);
} // namespace detail

// Do such tasks only compute: they never wait for anything, as the marks say? Asked of each task
// that is made in a hurry, so each kind is looked up once; again when the process has loaded
// something, for the function may be another one then. Any thread.
inline bool known_to_compute(const void *entry) {
    if (!detail::g_loads.any_new() &&
        SENNIT_LIKELY(!detail::g_marked.load(std::memory_order_relaxed)))
        return false;
    return detail::kind_computes(entry);
}

} // namespace sennit::program
