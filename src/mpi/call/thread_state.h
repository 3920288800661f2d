// SPDX-License-Identifier: Apache-2.0
// What the calling thread does: it blocks in a call, or it runs one of the program's callbacks.
#pragma once

#include "base/compiler.h"
#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/call/operation.h"

#include <atomic>
#include <optional>
#include <utility>

namespace sennit::mpi {

// Calls that block their thread, because no task is to be suspended: marked while they last, so
// that a report of a hang knows where the thread is.

// Is the thread in a call already, or is its mark not known to the runtime yet?
inline bool is_marked() {
    return marked_call() != nullptr;
}

// A call that is_marked() was asked about: a few stores are what stands between two bare messages.
class BlockedMark {
  public:
    [[gnu::always_inline]] BlockedMark(const sennit_call &call, int peer, int tag,
                                       std::uint64_t group) {
        set(peer, tag, group);
#if defined(__x86_64__) // no register is lost to a frame pointer
        asm("mov %%rsp, %0" : "=m"(t_mark.frame));
#else
        set_frame(__builtin_frame_address(0));
#endif
        begin(&call);
    }
    ~BlockedMark() { end(); }
    // A call without a sennit_call of its own.
    static void set_said(const sennit_call &call) {
        __atomic_store_n(&t_mark.said.name, call.name, __ATOMIC_RELAXED);
        __atomic_store_n(&t_mark.said.direction, call.direction, __ATOMIC_RELAXED);
        __atomic_store_n(&t_mark.said.of_requests, call.of_requests, __ATOMIC_RELAXED);
    }
    static void set_send(int peer, int tag) {
        __atomic_store_n(&t_mark.send_peer, peer, __ATOMIC_RELAXED);
        __atomic_store_n(&t_mark.send_tag, tag, __ATOMIC_RELAXED);
    }
    BlockedMark(const BlockedMark &) = delete;
    BlockedMark &operator=(const BlockedMark &) = delete;

  private:
    friend class Unmarked;
    [[gnu::always_inline]] static void set(int peer, int tag, std::uint64_t group) {
        __atomic_store_n(&t_mark.peer, peer, __ATOMIC_RELAXED);
        __atomic_store_n(&t_mark.tag, tag, __ATOMIC_RELAXED);
        __atomic_store_n(&t_mark.group, group, __ATOMIC_RELAXED);
    }
    static void set_frame(const void *frame) {
        __atomic_store_n(&t_mark.frame, frame, __ATOMIC_RELAXED);
    }
    static void begin(const sennit_call *call) {
        // Pairs with the acquire of who reads the mark.
        __atomic_store_n(&t_mark.call, call, __ATOMIC_RELEASE);
    }
    // A reader that has seen the call then sees that it is over, if it sees what the next one sets:
    // pairs with the fence of who reads the mark.
    static void end() {
        begin(nullptr);
        std::atomic_thread_fence(std::memory_order_release);
    }
};

// Any call: the first one of a thread makes its mark known, and one within another is not told.
class Blocking {
  public:
    Blocking(const sennit_call &call, int peer, int tag, std::uint64_t group) {
        if (may_mark())
            mark_.emplace(call, peer, tag, group);
    }
    explicit Blocking(const Operation &operation);
    // Of a call that both sends and receives: what it sends.
    Blocking(const sennit_call &call, int peer, int tag, std::uint64_t group, int send_peer,
             int send_tag) {
        if (may_mark()) {
            BlockedMark::set_send(send_peer, send_tag);
            mark_.emplace(call, peer, tag, group);
        }
    }

  private:
    static bool may_mark();
    std::optional<BlockedMark> mark_;
};

// The thread runs the program in the midst of a call that is marked. `wholly`: and where some
// `Inside` lives; if the program never comes back (it throws, or jumps), it has left MPI.
class Unmarked {
  public:
    explicit Unmarked(bool wholly = false) {
        if (inside_mpi() && (wholly || !t_mark.inner)) [[unlikely]] {
            inner_ = std::exchange(t_mark.inner, false);
            call_ = marked_call();
            peer_ = t_mark.peer;
            tag_ = t_mark.tag;
            send_peer_ = t_mark.send_peer;
            send_tag_ = t_mark.send_tag;
            group_ = t_mark.group;
            frame_ = t_mark.frame;
            said_ = t_mark.said;
            BlockedMark::end();
        }
    }
    ~Unmarked() {
        if (call_) [[unlikely]] {
            t_mark.inner = inner_;
            BlockedMark::set(peer_, tag_, group_);
            BlockedMark::set_send(send_peer_, send_tag_);
            BlockedMark::set_frame(frame_);
            BlockedMark::set_said(said_);
            // Without the bit of who looked: since then the program did something.
            const auto bits = reinterpret_cast<std::uintptr_t>(call_);
            BlockedMark::begin(reinterpret_cast<const sennit_call *>(bits & ~std::uintptr_t{1}));
        }
    }
    Unmarked(const Unmarked &) = delete;
    Unmarked &operator=(const Unmarked &) = delete;

  private:
    const sennit_call *call_ = nullptr;
    bool inner_ = false;
    int peer_ = -1;
    int tag_ = -1;
    int send_peer_ = -1;
    int send_tag_ = -1;
    std::uint64_t group_ = 0;
    const void *frame_ = nullptr;
    sennit_call said_{};
};

// start(&request), and the thread blocks until it is complete.
template <class Start>
int start_and_block(const Operation &operation, Start start) {
    static constexpr auto wait = SENNIT_BARE(Wait);
    const Blocking mark(operation);
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = start(&request);
    return error == MPI_SUCCESS ? wait(&request, MPI_STATUS_IGNORE) : error;
}

// Is the thread inside one of the program's callbacks (extensions/callbacks.h)? What blocks has to
// know: where the thread cannot be suspended, it polls.
//
// A callback whose task waits in OpenMP counts while other tasks run on the thread. That costs them
// nothing but the callbacks which they would call: the runtime's polling calls those
// (wrap/init_finalize.cpp).
//
// State: three words of each thread, which only that thread touches.

// What is known of a function that is called back:
// unknown -> unseen (its code shows no blocking call) -> returns; all -> blocks
enum class Habit : unsigned char { unknown, unseen, returns, blocks };

class InCallback {
  public:
    // Is the thread inside a callback that it has called itself?
    static bool polls() { return t_depth > 0; }
    // How many are on its stack.
    static int depth() { return t_depth; }
    // Does the innermost one block just now?
    static bool blocked() { return t_blocked; }
    // A call is made that may block.
    static void note_call() {
        if (t_habit) [[unlikely]]
            note_that_it_blocks();
    }
    // work() while a callback blocks that the thread may be in.
    template <class Work>
    static void while_blocked(Work work) {
        const bool outer = t_blocked;
        t_blocked = true;
        work();
        t_blocked = outer;
    }

    // The thread is inside a callback.
    class Here {
      public:
        Here() : blocked_(t_blocked) { t_blocked = false, ++t_depth; }
        ~Here() { t_blocked = blocked_, --t_depth; }
        Here(const Here &) = delete;
        Here &operator=(const Here &) = delete;

      private:
        const Unmarked unmarked_;
        bool blocked_;
    };
    // It leaves it aside: the task is suspended in it. Taken away and added again, for others that
    // wait for a lock of OpenMP's, say, may end on this thread meanwhile.
    class Aside {
      public:
        Aside() : depth_(t_depth), blocked_(t_blocked) { t_depth = 0, t_blocked = false; }
        ~Aside() { t_depth += depth_, t_blocked = blocked_; }
        Aside(const Aside &) = delete;
        Aside &operator=(const Aside &) = delete;

      private:
        int depth_;
        bool blocked_;
    };
    // The function with this habit is called. Was no blocking call noted when it ends?
    class Watched {
      public:
        explicit Watched(std::atomic<Habit> *habit) : habit_(habit), outer_(t_habit) {
            t_habit = habit;
        }
        ~Watched() { t_habit = outer_; }
        Watched(const Watched &) = delete;
        Watched &operator=(const Watched &) = delete;
        // Nobody has taken it away: not even another task, if this one was suspended otherwise.
        bool unnoted() const { return habit_ && t_habit == habit_; }

      private:
        std::atomic<Habit> *habit_;
        std::atomic<Habit> *outer_;
    };

  private:
    static void note_that_it_blocks();

    static SENNIT_TLS int t_depth;
    static SENNIT_TLS bool t_blocked;
    // Of the function that is being called, until it makes a call that may block.
    static SENNIT_TLS std::atomic<Habit> *t_habit;
};

} // namespace sennit::mpi
