// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of one user on one machine share: a file in /dev/shm.
//
// Whoever has it open holds a shared flock(2) on it, which the system gives back however the
// process ends. So who gets the exclusive one knows that nobody is left: then a joiner begins with
// empty memory, and who leaves removes the file.
//
// It begins with kMagic, and a file that does not, and is not empty, is left alone. No pointers lie
// in it: processes map it where they like.
#pragma once

#include <cstddef>

namespace sennit::node {

constexpr char kMagic[16] = "sennit's board";

// Of what lies in it (board.h).
constexpr unsigned kBoardVersion = 10;

// Why something could not be had, for a line to the user: empty, or what is wrong.
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

    // Open the file, or make it, with mode 0600. Where nobody else has it, `begin(memory)` is
    // called on memory that is zero but for kMagic, before anybody else may open it. False: see
    // `reason`. Takes a second at most.
    bool open(const char *path, std::size_t size, void (*begin)(void *memory), Reason &reason);
    // The last one removes the file. The memory stays mapped: threads may still be about to use it.
    void close();
    // In the child of fork(), which has nothing to give back: the lock is the parent's, too.
    void abandon();

    // Memory of another Segment of this process that stays mapped: the rest is that one's.
    void borrow(void *memory) { memory_ = memory; }

    void *memory() const { return memory_; }

  private:
    bool take(const char *path, std::size_t size, void (*begin)(void *), Reason &reason);
    bool is_linked() const;
    void give_up();

    void *memory_ = nullptr;
    std::size_t size_ = 0;
    int file_ = -1;
    char path_[256] = "";
};

// Remove the file if nobody has it open, as all who had may have been killed.
void remove_unused(const char *path);

// Memory without a name for a board that its caller keeps as long as it lives, where there is no
// folder for one; it is the same for all processes that it starts. False: there is such a folder,
// or no such memory.
bool provide_board(char *path, std::size_t size);

// Where this user's board is: $SENNIT_BOARD (but for memory of a launcher on another machine), else
// a name in /dev/shm that stands for the user and
// the namespace of process numbers, and for the version, or in the folder of temporary files if
// there is no /dev/shm. A container has its own numbers, even where it shares /dev/shm. `size`: of
// `path`.
void board_path(char *path, std::size_t size);

} // namespace sennit::node
