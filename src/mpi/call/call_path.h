// SPDX-License-Identifier: Apache-2.0
// What the calls of one MPI library share, whichever room they end up in: the task runtime's
// functions, the words that a call looks at first, and whether its thread is inside MPI already. A
// call of a program that has no tasks costs these few instructions more than the bare MPI's.
#pragma once

#include "base/spin.h"
#include "mpi/call/operation.h"
#include "sennit.h"

#include <atomic>
#include <cstdint>

namespace sennit::mpi {

// The task runtime's functions that we use, looked up by name when the first of them is wanted.
// Without all of them every call is bare.

#define SENNIT_RUNTIME_FUNCTIONS(X)                                                                \
    X(sennit_should_suspend)                                                                       \
    X(sennit_call_begins)                                                                          \
    X(sennit_tasks_outside)                                                                        \
    X(sennit_worker_wanted)                                                                        \
    X(sennit_meets_others)                                                                         \
    X(sennit_libraries_loaded)                                                                     \
    X(sennit_teams_with_tasks)                                                                     \
    X(sennit_send_order)                                                                           \
    X(sennit_task_urgency)                                                                         \
    X(sennit_task_self)                                                                            \
    X(sennit_task_get_kind)                                                                        \
    X(sennit_task_wait_ns)                                                                         \
    X(sennit_task_spawn)                                                                           \
    X(sennit_task_tests)                                                                           \
    X(sennit_task_suspend_for)                                                                     \
    X(sennit_task_resume)                                                                          \
    X(sennit_helpers)                                                                              \
    X(sennit_task_events_increase)                                                                 \
    X(sennit_task_events_decrease)                                                                 \
    X(sennit_task_event_last)                                                                      \
    X(sennit_code_calls)                                                                           \
    X(sennit_poll_register)                                                                        \
    X(sennit_poll_describe)                                                                        \
    X(sennit_poll_pending)                                                                         \
    X(sennit_poll_doorbell)                                                                        \
    X(sennit_pool_share)                                                                           \
    X(sennit_pool_lend)                                                                            \
    X(sennit_pool_reclaim)                                                                         \
    X(sennit_notify)

class RuntimeFunctions {
  public:
#define SENNIT_MEMBER(name) decltype(&::name) name = nullptr;
    SENNIT_RUNTIME_FUNCTIONS(SENNIT_MEMBER)
#undef SENNIT_MEMBER
    sennit_poll_service *service = nullptr;
    bool complete = false;
    // The runtime is there to tell of hangs alone, for nothing in the process needs OpenMP: calls
    // say what they wait for, and are bare in all else.
    bool only_watches = false;
    bool has_tasks() const { return complete && !only_watches; }

    constexpr RuntimeFunctions() = default;
    RuntimeFunctions(const RuntimeFunctions &) = delete;
    RuntimeFunctions &operator=(const RuntimeFunctions &) = delete;

    // They are looked up now, at the latest. Pairs with the store in find().
    const RuntimeFunctions &get() {
        if (__builtin_expect(!found_.load(std::memory_order_acquire), false))
            find();
        return *this;
    }

  private:
    void find();

    SpinLock lock_; // one thread looks them up
    std::atomic<bool> found_{false};
};

// What the calls of one MPI library share, whichever room they end up in.
//
// State                  what                                        written by
//   gate, request_gate,    what a call finds first       who has something to attend
//   attention, teams                                                   to, with `lock`
//   obstacles              reasons not to try a blocking call in a     queued sends, chaos
//                          task (engine/engine.h)
//   test_rest              what a thread does after a test in vain,    crowd/
//                          where ranks outnumber cores (runtime.h)
//   tell_senders           the same of one that has called MPI, where  crowd/
//                          ranks outnumber cores (call_path.h)
//   runtime                the task runtime's functions                the first who asks
//   serve, describer       what it calls of ours                       wrap/init_finalize
//   allowed, aware         may tasks call from any thread: by MPI, by  MPI_Init, TAMPI_Init
//                          the program; `multiple`: both
//   always_suspends        does every task's call suspend it           MPI_Init, before any task
struct Calls {
    static constexpr std::int32_t kShut = 1; // what a gate points to that never opens

    // Where zero stands while calls need no attention but the mark: the count of teams with tasks,
    // or, where there is no runtime or something else to attend to, kShut.
    std::atomic<const std::int32_t *> gate{&kShut};
    // The same for the calls that make a request: theirs may need attention where others do not.
    std::atomic<const std::int32_t *> request_gate{&kShut};
    std::atomic<unsigned char> attention{0}; // enum Attention
    std::atomic<bool> multiple{false};
    std::atomic<bool> allowed{false};
    std::atomic<bool> aware{true};
    bool always_suspends = false;
    std::atomic<int> obstacles{0};
    std::atomic<void (*)()> test_rest{nullptr};                         // null: nothing
    std::atomic<void (*)(const Operation *over)> tell_senders{nullptr}; // likewise

    SpinLock lock;
    const std::int32_t *teams SENNIT_GUARDED_BY(lock) = &kShut;
    int (*serve)(void *) = nullptr;
    const sennit_describer *describer = nullptr;
    RuntimeFunctions runtime;
};

// One for each MPI library in the process. Hidden, it is reached without a table of addresses.
#pragma GCC visibility push(hidden)
extern constinit Calls g_calls;
#pragma GCC visibility pop

// What there is in the process that calls have to attend to.
enum Attention : unsigned char {
    kTasks = 1, // a task runtime
    kContinuations = 2,
    kTracing = 4,
    kCallbacks = 8,     // of the program, see extensions/callbacks.h
    kRequestTable = 16, // see record/request_table.h
    kCollectives = 32,  // all of them are non-blocking, see runtime.h
    kCrowd = 64,        // ranks outnumber cores, see crowd/crowd.h
    kFollowed = 128,    // requests, from their begin to their end, see record/request_table.h
};
void attend_to(Attention what);
void attend_no_more_to(Attention what);
// To tasks; the runtime counts in `teams` those that have any.
void attend_to_tasks(const std::int32_t *teams);

#pragma GCC visibility push(hidden)

// Where this thread says what it waits for (sennit.h, thread_state.h). While a call stands there it
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

// What a call finds first. It costs a few instructions; where there is something to attend to, the
// call's path is asked next (below).
enum class FirstLook {
    bare,     // nothing
    marked,   // no tasks in the task runtime: bare, but a thread that blocks says so
    attended, // something to attend to
};
inline FirstLook first_look_at(const std::atomic<const std::int32_t *> &gate) {
    // The pointer is published after what it points to, which the load depends on.
    if (__atomic_load_n(gate.load(std::memory_order_relaxed), __ATOMIC_RELAXED) == 0) [[likely]]
        return FirstLook::marked;
    return g_calls.attention.load(std::memory_order_relaxed) == 0 ? FirstLook::bare
                                                                  : FirstLook::attended;
}
inline FirstLook first_look() {
    return first_look_at(g_calls.gate);
}
inline FirstLook first_look_at_requests() {
    return first_look_at(g_calls.request_gate);
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

// ---- the path of a call -------------------------------------------------------------------------

// MPI was initialized with MPI_THREAD_MULTIPLE: tasks may call from any thread.
void set_multiple(bool multiple);
bool multiple();
// The same, whether there may be tasks or not.
bool any_thread_may_call();
// Does the program want calls in tasks to suspend them, and to be bound to them? From TAMPI_Init to
// TAMPI_Finalize, if it has said so; else always.
void set_aware(bool aware);
bool is_aware();
// Cleared where the program wants its blocking calls to block (TAMPI_PROPERTY_THREAD_TASKAWARE).
#pragma GCC visibility push(hidden)
extern constinit thread_local bool t_taskaware __attribute__((tls_model("initial-exec")));
#pragma GCC visibility pop
// From MPI_Init on every call in a task suspends it, if only for a moment, whatever else there is.
void always_suspend();

// Is the caller an OpenMP task (or in a like position) whose blocking calls should suspend it?
bool in_task();
// The same for calls that are known not to block when `never_blocks`.
inline bool in_task(bool never_blocks) {
    return !never_blocks && in_task();
}

// A call begins that may block: which path does it take? A send is told to the runtime.
Path path_of_call(Notice notice = Notice::none);
inline Path path_of_call(Notice notice, bool never_blocks) {
    return never_blocks ? Path::blocks : path_of_call(notice);
}
// Of a call that must not block its thread, wherever it is.
inline Path path_of_wait() {
    return in_task() ? Path::suspends : Path::polls;
}
// Of a call outside of tasks and of callbacks.
inline Path path_outside() {
    return crowded() ? Path::polls : Path::blocks;
}

} // namespace sennit::mpi
