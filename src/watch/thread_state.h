// SPDX-License-Identifier: Apache-2.0
// What the kernel says of a thread of this process.
#pragma once

#include <cstdint>

namespace sennit::watch {

struct ThreadState {
    bool runs = false;      // or would, if it were given a processor
    std::uint64_t used = 0; // processor time, in clock ticks
};
ThreadState state_of(int thread_id);

// Processor time that it has had, in ns, up to now; the time of day where the kernel does not say.
std::uint64_t used_by(int thread_id);

// A thread that sleeps in the kernel.
struct Sleep {
    enum class In : std::uint8_t {
        nothing, // it does not sleep, or the kernel does not say
        futex,   // until another thread wakes it
        events,  // in an event loop: poll, select or epoll without a time limit
        call,    // any other system call: it may end by itself
    };
    In in = In::nothing;
    const void *futex = nullptr; // In::futex: the word
    std::uint64_t expected = 0;  // and what it held
    const void *stack = nullptr; // where the thread's frames begin
};
Sleep sleep_of(int thread_id);

// How often it has gone to sleep. The same number twice, asleep both times: it slept in between.
std::uint64_t sleeps_of(int thread_id);

// Does the process have such a thread?
bool is_thread(int thread_id);

} // namespace sennit::watch
