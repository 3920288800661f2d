// SPDX-License-Identifier: Apache-2.0
// What every call looks at first: which way it goes, and whether its thread is inside MPI already.
// A call of a program that has no tasks costs these few instructions more than the bare MPI's.
#pragma once

#include "mpi/call/calls.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>

namespace sennit::mpi {

// What there is in the process that calls have to attend to.
enum Attention : unsigned char {
    kTasks = 1, // a task runtime
    kContinuations = 2,
    kTracing = 4,
    kCallbacks = 8,     // of the program, see extensions/callbacks.h
    kRequestTable = 16, // see record/request_table.h
    kCollectives = 32,  // all of them are non-blocking, see runtime.h
    kCrowd = 64,        // ranks outnumber cores, see crowd/join.h
    kFollowed = 128,    // requests, from their begin to their end, see record/request_table.h
};
void attend_to(Attention what);
void attend_no_more_to(Attention what);
// To tasks; the runtime counts in `teams` those that have any.
void attend_to_tasks(const std::int32_t *teams);

#pragma GCC visibility push(hidden)

// Where this thread says what it waits for (sennit.h, blocked_mark.h). While a call stands there it
// runs MPI or this library, not the program.
struct alignas(64) Mark : sennit_blocked { // in one cache line: up to 2% of a ping-pong otherwise
    bool inner;                            // some `Inside` lives
    sennit_call said;                      // a call without a sennit_call of its own
};
extern constinit thread_local Mark t_mark __attribute__((tls_model("initial-exec")));
// In place of a call, and told to nobody:
extern const sennit_call g_inside;  // the thread is inside
extern const sennit_call g_unknown; // it has made no call yet that blocks: the runtime has no mark

#pragma GCC visibility pop

// Do ranks outnumber cores? Then no call blocks its thread in MPI.
inline bool crowded() {
    return (g_calls.attention.load(std::memory_order_relaxed) & kCrowd) != 0;
}

// Is there any continuation request?
inline bool has_continuations() {
    return (g_calls.attention.load(std::memory_order_relaxed) & kContinuations) != 0;
}

// The calling thread has called MPI, which may have taken a message. If ranks outnumber cores, its
// sender may sleep until then. `over`: what the thread has waited for; MPI may have sent the rest
// of it at last.
void tell_senders(const Operation *over);
inline void has_called_mpi(const Operation *over = nullptr) {
    if (crowded()) [[unlikely]]
        tell_senders(over);
}

// Which way a call goes.
enum class CallPath {
    bare,
    marked,   // bare, as long as the task runtime has no tasks; but who blocks says so (blocking.h)
    attended, // whatever there is to be done
};
inline CallPath call_path_by(const std::atomic<const std::int32_t *> &gate) {
    // The pointer is published after what it points to, which the load depends on.
    if (__atomic_load_n(gate.load(std::memory_order_relaxed), __ATOMIC_RELAXED) == 0) [[likely]]
        return CallPath::marked;
    return g_calls.attention.load(std::memory_order_relaxed) == 0 ? CallPath::bare
                                                                  : CallPath::attended;
}
inline CallPath call_path() {
    return call_path_by(g_calls.gate);
}
inline CallPath request_call_path() {
    return call_path_by(g_calls.request_gate);
}

// The thread's own look at its mark, which the runtime may be changing.
inline const sennit_call *marked_call() {
    return __atomic_load_n(&t_mark.call, __ATOMIC_RELAXED);
}

// Is this thread inside the MPI library?
inline bool inside_mpi() {
    const sennit_call *call = marked_call();
    return call && call != &g_unknown;
}

// As long as it lives, this thread is inside: what MPI calls through our names is bare.
class Inside {
  public:
    Inside() : call_(marked_call()), inner_(t_mark.inner), outermost_(!inside_mpi()) {
        t_mark.inner = true;
        if (outermost_)
            __atomic_store_n(&t_mark.call, &g_inside, __ATOMIC_RELAXED);
    }
    ~Inside() {
        t_mark.inner = inner_;
        if (outermost_)
            __atomic_store_n(&t_mark.call, call_, __ATOMIC_RELAXED);
    }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

  private:
    const sennit_call *call_;
    bool inner_;
    bool outermost_;
};

template <class Call>
int outside_task(Call call) {
    const Inside inside;
    return call();
}

} // namespace sennit::mpi
