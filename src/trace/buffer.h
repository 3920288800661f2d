// SPDX-License-Identifier: Apache-2.0
// What record() leaves behind and write_timeline() reads.
#pragma once

#include "trace/trace.h"

#include <atomic>
#include <cstdint>

namespace sennit::trace {

struct Event {
    std::uint64_t ns; // CLOCK_REALTIME
    std::uint64_t task;
    std::uint64_t a;
    std::uint64_t b;
    const char *name;
    Kind kind;
};

struct Chunk {
    static constexpr std::uint32_t kEvents = 8192;
    std::atomic<std::uint32_t> count{0}; // published after each event
    std::atomic<Chunk *> next{nullptr};
    Event events[kEvents];
};

struct ThreadBuffer {
    std::uint32_t thread = 0;
    std::atomic<Chunk *> first{nullptr};
    Chunk *last = nullptr; // the recording thread's
    ThreadBuffer *next = nullptr;
};

// Write <folder>/rank-<rank>.json; a rank below 0 is looked up in the launcher's environment.
void write_timeline(const char *folder, int rank, ThreadBuffer *threads);

// The name of the function at `entry`, for people: into text[size].
void function_name(std::uint64_t entry, char *text, unsigned long size);

} // namespace sennit::trace
