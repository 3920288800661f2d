// SPDX-License-Identifier: Apache-2.0
// Which process this library finds itself in. A virtual rank has it by LD_PRELOAD, in front of all
// others, and takes it out of its environment before main: a program that the rank starts is an
// ordinary process, and does not get it.
#pragma once

#include <climits>

namespace sennit::loader::inside {

// A virtual rank, or a child that it has forked: /proc shows both as the loader.
bool is_rank();

// A virtual rank whose memory others share: not its child.
bool shares_memory();

// What the kernel would have for /proc/self/exe if this were a process of its own. Null: it is
// unknown.
const char *program_path();

// Its arguments, with a null at their end.
char **arguments();

// The texts of its environment as it was at the start, one behind the other. False: there is none
// at `at`, or behind it. `text` is what a process would have; null where it would have nothing.
bool next_of_environment(const char *&at, const char *&text);

// Paths of /proc that a program knows itself by. Of a virtual rank the kernel shows there what the
// host is: /proc/self/exe, cmdline and environ belong to the memory, which is the host's.

enum class OwnEntry { none, exe, cmdline, environ };

// What of this process the path names: "/proc/self/exe", "/proc/123/exe", "/proc/thread-self/exe",
// "/proc/self/task/124/exe"... None in a process that is no virtual rank.
OwnEntry own_entry(const char *path);

// The path to hand on in place of a given one: that of the program, or of a file in memory with the
// arguments or the environment. The file is there as long as this object is.
class RealPath {
  public:
    explicit RealPath(const char *given);
    ~RealPath();
    RealPath(const RealPath &) = delete;
    RealPath &operator=(const RealPath &) = delete;

    // errno says why.
    bool failed() const { return failed_; }
    const char *get() const { return path_; }

  private:
    const char *path_;
    int file_ = -1;
    bool failed_ = false;
    char of_file_[32];
};

// As above for programs alone.
const char *real_program(const char *given);

} // namespace sennit::loader::inside
