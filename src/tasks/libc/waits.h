// SPDX-License-Identifier: Apache-2.0
// Calls of libc's that block for a file, another process or the time: in a task they suspend it
// while its thread has something else to run.
//
// Each wait has one wake-up: for a file descriptor the watcher, a thread that sleeps in the kernel
// until one of those that are waited for is ready; for a call that another thread makes, that one
// (elsewhere.h); for a time, and for what no file tells of, a timer of the ticker. Nobody polls. A
// wake-up may be for nothing: callers try again.
//
// Calls go to libc at once outside of explicit tasks (an implicit task creates others, and programs
// know where it stops for these: at scheduling points of OpenMP and in MPI), where the flow may not
// be suspended, where nothing else could run, and from code that is not the program's
// (tasks/pthread/mutex.h).
#pragma once

#include "base/compiler.h"
#include "tasks/pthread/parking.h"
#include "tasks/sched/worker.h"
#include "wait/rows.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <utility>

namespace sennit::libc {

using pthread::Deadline;

inline constexpr long kSecond = 1'000'000'000; // ns

inline bool is_valid(const timespec &time) {
    return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < kSecond;
}
inline std::int64_t ns_of(const timespec &time) {
    constexpr time_t kLongest = 1'000'000'000; // seconds
    return std::min(time.tv_sec, kLongest) * kSecond + time.tv_nsec;
}
// What is left until then; none, if it is over.
inline timespec left_until(const Deadline &until) {
    const std::int64_t ns = std::max<std::int64_t>(until.left_ns(), 0);
    return {ns / kSecond, ns % kSecond};
}

namespace detail {
bool lets_others_run(const sched::Worker &worker, const void *caller);
}

// Are there explicit tasks, or were there, in the team of the calling thread? A few instructions:
// this is all that calls cost elsewhere.
inline bool in_task() {
    const sched::Worker *const worker = sched::Worker::self();
    return SENNIT_UNLIKELY(worker != nullptr) && worker->slot &&
           worker->slot->group->has_tasks.load(std::memory_order_relaxed);
}

// The worker of a task, where in_task(), for which a call that returns to `caller` should not
// block. Null: the call is libc's.
inline sched::Worker *worker_of_task(const void *caller) {
    sched::Worker *const worker = sched::Worker::self();
    return detail::lets_others_run(*worker, caller) ? worker : nullptr;
}

enum class End : std::uint8_t {
    over,        // what is waited for may be there
    late,        // the time is over
    interrupted, // by a signal handler
    refused,     // it has not waited: the caller has to block
};

enum class Direction : std::uint8_t { in, out };

// Until `file` can be read from, or written to, or has an error.
End wait_for_file(sched::Worker &worker, int file, Direction direction, const Deadline &until);

// Until pthread::wake(key). arm(arg) is called when that would be noticed; false: it will not come.
End wait_for_wake(sched::Worker &worker, const void *key, bool (*arm)(void *arg), void *arg);

// Until then; late: it is over.
End wait_for_time(sched::Worker &worker, const Deadline &until);

// For what another process does and nobody tells of: try again after a while.
class Retries {
  public:
    explicit Retries(sched::Worker &worker) : worker_(worker), begin_ns_(poll::now_ns()) {}
    // Not beyond `until`. Over: try again.
    End nap(const Deadline &until = Deadline());
    // After a try in vain: is it the second one in a row on a file that is ready?
    bool again(bool is_ready) { return std::exchange(was_ready_, is_ready) && is_ready; }

  private:
    sched::Worker &worker_;
    const std::uint64_t begin_ns_;
    bool was_ready_ = false;
};

inline int fail(int error) {
    errno = error;
    return -1;
}

// A call that would have blocked: again after each wait(), which returns an End. attempt(): as the
// call, but it fails with EAGAIN where that would block. block(): the call.
template <class Wait, class Attempt, class Block>
auto try_again(Wait wait, Attempt attempt, Block block) -> decltype(block()) {
    for (;;) {
        switch (wait()) {
        case End::over:
            break;
        case End::late:
            return fail(EAGAIN);
        case End::interrupted:
            return fail(EINTR);
        case End::refused:
            return block();
        }
        const auto result = attempt();
        if (result >= 0 || errno != EAGAIN)
            return result;
    }
}

// In the child of fork(): the watcher is gone. What still waits looks again.
void after_fork_in_child();

} // namespace sennit::libc
