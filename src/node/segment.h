// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one user on one machine share: a file in /dev/shm.
//
// Every process that has the file open holds a shared flock(2) on it. The system gives the lock
// back however the process ends. So a process that gets the exclusive lock knows that no other is
// left. A joiner then begins with empty memory; a process that leaves removes the file.
//
// The file begins with kMagic. A file that is not empty and does not begin so is left alone. The
// memory holds no pointers, because each process maps it at another address.
#pragma once

#include <cstddef>

namespace sennit::node {

constexpr char kMagic[16] = "sennit's board";

// The version of what lies in the memory (board.h).
constexpr unsigned kBoardVersion = 19;

// Room for a path. The system opens none that is so long, so nobody opens one that was cut off.
constexpr std::size_t kPathRoom = 4096 + 64;

// Why something failed, for a line to the user. Empty: it has not.
struct Reason {
    char text[256] = "";
    explicit operator bool() const { return text[0] != '\0'; }
    [[gnu::format(printf, 2, 3)]] void say(const char *format, ...);
};

class Segment {
  public:
    constexpr Segment() = default;
    Segment(const Segment &) = delete;
    Segment &operator=(const Segment &) = delete;

    // Open the file, or make it with mode 0600. If no other process has it open, begin(memory) is
    // called before another one may open it. The memory is zero then, except for kMagic. False: see
    // `reason`. Takes a second at most.
    bool open(const char *path, std::size_t size, void (*begin)(void *memory), Reason &reason);
    // Leave the file; the last process removes it. The memory stays mapped, because threads may
    // still be about to use it.
    void close();
    // Called in the child of fork(), which gives nothing back: the lock is the parent's, too.
    void abandon();

    // Use the memory of another Segment of this process, which stays mapped and does all the rest.
    void borrow(void *memory) { memory_ = memory; }

    void *memory() const { return memory_; }

  private:
    bool take(const char *path, std::size_t size, void (*begin)(void *), Reason &reason);
    bool is_linked() const;
    void give_up();

    void *memory_ = nullptr;
    std::size_t size_ = 0;
    int file_ = -1;
    char path_[kPathRoom] = "";
};

// Is this open file the one that has the path now? Another process may have removed it and made a
// new one.
bool is_at(int file, const char *path);

// Remove the file if no process has it open: all that had it open may have been killed.
void remove_unused(const char *path);

// Does a living process have the file open?
bool is_in_use(const char *path);

// For systems without a folder for boards: make memory without a name, which lasts as long as the
// calling process and is the same for all processes that it starts. Its path is written into
// `path`, which has `size` bytes. False: there is a folder for boards, or no such memory.
bool provide_board(char *path, std::size_t size);

// Write the path of this user's board into `path`, which has `size` bytes. It is $SENNIT_BOARD,
// unless that names memory of a launcher on another machine. Else it is a name in /dev/shm, or in
// the folder of temporary files if there is no /dev/shm. The name stands for the user, the
// namespace of process numbers and the version: a container has its own process numbers, even if it
// shares /dev/shm.
void board_path(char *path, std::size_t size);

} // namespace sennit::node
