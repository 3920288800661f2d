// SPDX-License-Identifier: Apache-2.0
// Calls that block their thread, because no task is to be suspended: marked while they last, so
// that a report of a hang knows where the thread is.
#pragma once

#include "mpi/engine.h"

namespace sennit::mpi {

// Can the thread's mark not be used? It is looked for at the first call; and a call within another
// one is not told.
inline bool is_marked() {
    return t_mark->wait.call != nullptr;
}
sennit_blocked *find_mark(); // to be used then

// A few stores: what stands between two bare messages.
class Blocking {
  public:
    [[gnu::always_inline]] Blocking(const sennit_wait &wait, sennit_blocked *mark) : mark_(mark) {
        set(*mark, wait);
#if defined(__x86_64__) // no register is lost to a frame pointer
        asm("mov %%rsp, %0" : "=m"(mark->frame));
#else
        mark->frame = __builtin_frame_address(0);
#endif
        begin(*mark, wait.call);
    }
    [[gnu::always_inline]] explicit Blocking(const sennit_wait &wait)
        : Blocking(wait, is_marked() ? find_mark() : t_mark) {}
    ~Blocking() { end(*mark_); }
    Blocking(const Blocking &) = delete;
    Blocking &operator=(const Blocking &) = delete;

  private:
    friend class Unmarked;
    [[gnu::always_inline]] static void set(sennit_blocked &mark, const sennit_wait &wait) {
        mark.wait.direction = wait.direction;
        mark.wait.peer = wait.peer;
        mark.wait.tag = wait.tag;
        mark.wait.requests = wait.requests;
        mark.wait.count = wait.count;
        mark.wait.group = wait.group;
        // No handles: MPI may be at them.
    }
    static void begin(sennit_blocked &mark, const char *call) {
        __atomic_store_n(&mark.calls, mark.calls + 1, __ATOMIC_RELAXED);
        // Pairs with the acquire of who reads the mark.
        __atomic_store_n(&mark.wait.call, call, __ATOMIC_RELEASE);
    }
    static void end(sennit_blocked &mark) {
        __atomic_store_n(&mark.wait.call, static_cast<const char *>(nullptr), __ATOMIC_RELEASE);
    }

    sennit_blocked *mark_;
};

// The thread runs the program in the midst of a call that is marked.
class Unmarked {
  public:
    Unmarked() {
        if (inside_mpi() && t_mark != &g_inside) [[unlikely]] {
            was_ = *t_mark;
            Blocking::end(*t_mark);
        }
    }
    ~Unmarked() {
        if (was_.wait.call) [[unlikely]] {
            Blocking::set(*t_mark, was_.wait);
            t_mark->frame = was_.frame;
            Blocking::begin(*t_mark, was_.wait.call);
        }
    }
    Unmarked(const Unmarked &) = delete;
    Unmarked &operator=(const Unmarked &) = delete;

  private:
    sennit_blocked was_{};
};

// What reports say of an operation.
sennit_wait wait_of(const Operation &operation);

inline std::uint64_t group_of(Object object) {
    return object.kind == Object::Kind::communicator ? object.handle : 0;
}

// Answers the runtime's questions about waits and tickets.
extern const sennit_describer g_describer;

} // namespace sennit::mpi
