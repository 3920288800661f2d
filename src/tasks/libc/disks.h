// SPDX-License-Identifier: Apache-2.0
// Reads and writes of regular files and block devices, which are always ready, and yet block: for a
// disk, a server, room in the page cache. A helper thread makes those that may (elsewhere.h). Those
// that only copy between memory and the page cache stay, unless they are long: a helper costs 6 to
// 15 us more than the call.
#pragma once

#include "tasks/libc/elsewhere.h"

#include <cerrno>
#include <cstddef>
#include <sys/stat.h>

namespace sennit::libc {

inline constexpr off_t kWhereItIs = -1; // at the file's position

struct Transfer {
    int file;
    std::size_t size;
    off_t at; // or kWhereItIs
    Direction direction;
};

// Looks that may fail, before a call that may succeed: that one's errno is as before then.
class ErrnoKept {
  public:
    ErrnoKept() = default;
    ~ErrnoKept() { errno = before_; }
    ErrnoKept(const ErrnoKept &) = delete;
    ErrnoKept &operator=(const ErrnoKept &) = delete;

  private:
    const int before_ = errno;
};

// fstat(), which leaves errno. False: libc's call says what is wrong.
inline bool find_facts(int file, struct stat &facts) {
    const ErrnoKept kept;
    return fstat(file, &facts) == 0;
}

inline bool is_on_disk(const struct stat &facts) {
    return S_ISREG(facts.st_mode) || S_ISBLK(facts.st_mode);
}

// Should a helper make it?
bool may_wait_for_disk(const Transfer &transfer, const struct stat &facts);

// What the kernel makes. There /proc/thread-self is the caller, and devices may do anything.
bool is_the_kernels(const char *path);
// A named pipe, whose other end another task opens, or a device. To ask takes as long as to open.
bool may_wait_for_another(int folder, const char *path, bool makes_it);

// open(): libc's call; `none`, if it is not made. It makes a file that is not there, or does not.
template <class Result, class Open>
Result open_in_task(sched::Worker &worker, int folder, const char *path, bool makes_it, Result none,
                    Open open) {
    bool may_wait = false;
    const Result result = function_elsewhere(worker, CallEnds::by_itself, [&] {
        may_wait = may_wait_for_another(folder, path, makes_it);
        return may_wait ? none : open();
    });
    return may_wait ? function_elsewhere(worker, CallEnds::by_another, open) : result;
}

// Notes how long writes take that stay.
class WriteTime {
  public:
    explicit WriteTime(Direction direction)
        : begin_ns_(direction == Direction::out ? poll::now_ns() : 0) {}
    ~WriteTime();
    WriteTime(const WriteTime &) = delete;
    WriteTime &operator=(const WriteTime &) = delete;

  private:
    const std::uint64_t begin_ns_;
};

// move(): libc's call.
template <class Move>
ssize_t move_on_disk(sched::Worker &worker, const Transfer &transfer, const struct stat &facts,
                     Move move) {
    if (may_wait_for_disk(transfer, facts))
        return elsewhere(worker, CallEnds::by_itself, move);
    const WriteTime time(transfer.direction);
    return move();
}

} // namespace sennit::libc
