// SPDX-License-Identifier: Apache-2.0
// How a call waits for one file: it is tried, and the task is suspended until the file is ready.
#pragma once

#include "tasks/libc/waits.h"

#include <cerrno>
#include <ctime>

namespace sennit::libc {

bool is_nonblocking(int file);
// Can it be read from, or written to, or is there an error? Not for long, perhaps: others use it.
bool is_ready(int file, Direction direction);

// Does reading give what there is, or wait by a clock of its own?
bool is_timed_terminal(int file);

// Until when a call on a socket waits, if the program has set a limit. Asked when it begins to.
class TimeLimit {
  public:
    TimeLimit(int file, Direction direction) : file(file), direction(direction) {}
    TimeLimit(int file, Direction direction, const Deadline &until)
        : file(file), direction(direction), is_known_(true), until_(until) {}
    const Deadline &until();

    const int file;
    const Direction direction;

  private:
    bool is_known_ = false;
    timespec storage_{};
    Deadline until_;
};

// After a wake-up that was for nothing. A file that says once more that it is ready, though the
// call would block, would wake the task at once again and again: a local socket that sends to a
// full one.
inline End wait_again(sched::Worker &worker, int file, Direction direction, const Deadline &until,
                      Retries &retries) {
    return retries.again(is_ready(file, direction)) ? retries.nap(until)
                                                    : wait_for_file(worker, file, direction, until);
}

// attempt() and block(): see try_again().
template <class Attempt, class Block>
auto until_done(sched::Worker &worker, TimeLimit &limit, Attempt attempt, Block block)
    -> decltype(block()) {
    const auto result = attempt();
    if (result >= 0 || errno != EAGAIN)
        return result;
    if (is_nonblocking(limit.file))
        return fail(EAGAIN);
    const Deadline &until = limit.until();
    Retries retries(worker);
    bool has_waited = false;
    const auto wait = [&] {
        return std::exchange(has_waited, true)
                   ? wait_again(worker, limit.file, limit.direction, until, retries)
                   : wait_for_file(worker, limit.file, limit.direction, until);
    };
    return try_again(wait, attempt, block);
}

// In the child of fork(): no other task is about to use a file.
void files_after_fork_in_child();

} // namespace sennit::libc
