// SPDX-License-Identifier: Apache-2.0
// Threads that block in calls of other libraries (sennit_thread_blocks).
#pragma once

#include "base/array.h"
#include "sennit.h"

#include <cstddef>
#include <cstdint>

namespace sennit::watch {

struct Blocked {
    int thread_id;
    std::uint64_t calls; // different ones that were seen
    sennit_wait wait;
    const void *frame;
};
// visit(thread) for each that is in a call now. Asked by the ticker only.
void each_blocked(void (*visit)(void *arg, const Blocked &thread), void *arg);
bool is_blocked(int thread_id);
void forget_threads_after_fork();

// What the kernel says of a thread of this process.

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

// Threads that Sennit knows nothing of: the program's own, and those of its libraries. Such a
// thread may compute for hours and then send a message or fulfil an event.

class Foreign {
  public:
    // Does one of them run, or wait for a processor, or have they used a good part of the time
    // since the last look?
    bool at_work(std::uint64_t now_ns, std::uint64_t last_ns);
    // At that look: did one of them sleep in a call that may end by itself, such as a read?
    bool naps() const { return naps_; }
    // A line about those that sleep, "" when there are none.
    const char *note();

  private:
    std::uint64_t used_ = 0; // processor time, in clock ticks
    int asleep_ = 0;
    bool naps_ = false;
    char note_[160] = "";
};

// Threads that could go on, and get no processor: other programs have them all. What such a thread
// shows is from before somebody woke it, and proves nothing.

class Starved {
  public:
    // What a thread has to have had between two looks. One that looks for something to do looks
    // hundreds of times in that; one that is on its way out of the kernel needs less.
    static constexpr std::uint64_t kEnough = 100'000; // ns

    // Between two looks.
    void begin_look();
    // Has the thread had next to no processor time since the last look, and runs() all the same, or
    // would? `used` is all that it has ever had, in ns. Not of one that the last look did not see.
    template <class Runs>
    bool starves(int thread_id, std::uint64_t used, Runs runs) {
        now_.push({thread_id, used});
        const Use *const last = before(thread_id);
        return last && used >= last->used && used - last->used < kEnough && runs();
    }

  private:
    struct Use {
        int thread_id;
        std::uint64_t used;
    };
    const Use *before(int thread_id);

    ScopedArray<Use> before_; // the last look's, and this one's
    ScopedArray<Use> now_;
    std::size_t next_ = 0; // of the last look's: two looks meet the threads in the same order
};

} // namespace sennit::watch
