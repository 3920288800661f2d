// SPDX-License-Identifier: Apache-2.0
// Pools as the command sees them: the boards that have a name, and their keepers.
//
// A keeper is a process in the background that `sennit pool start` leaves behind (pool_keeper.h).
// While it lives it holds a lock on one byte of the board's file, which the system takes back
// however it ends. So of several only one becomes the keeper, and anybody can tell whether there is
// one. Its slot says who it is, under a job of its own.
#pragma once

#include "node/board.h"
#include "node/pool.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sennit::tool {

inline constexpr std::uint64_t keeper_job = 1; // ranks have none that is so small

// Bytes of a board's file that stand for something that one process at a time does.
enum class Duty : int { keeper, targets };

class DutyLock {
  public:
    // Nullopt: another process has it.
    static std::optional<DutyLock> take(const std::string &path, Duty duty);
    // Throws Failure where there is no such file.
    static DutyLock wait_for(const std::string &path, Duty duty);
    static bool is_taken(const std::string &path, Duty duty);
    DutyLock(DutyLock &&other) noexcept : file_(other.file_) { other.file_ = -1; }
    DutyLock &operator=(DutyLock &&other) noexcept {
        std::swap(file_, other.file_);
        return *this;
    }
    ~DutyLock();
    // By whom holds it: is the file that is locked the one at this path?
    bool is_of(const std::string &path) const;

  private:
    explicit DutyLock(int file) : file_(file) {}
    int file_ = -1;
};

// Throws Failure for what is no name of a pool.
std::string pool_file(const std::string &name);

// A pool that is there.
class Pool {
  public:
    // Throws Failure where there is none, and, if `needs_keeper`, where its keeper has died.
    static Pool find(const std::string &name, bool needs_keeper = true);
    static std::vector<std::string> names();

    node::Board &board() const { return *board_; }
    const std::string &name() const { return name_; }
    const std::string &path() const { return path_; }
    bool has_keeper() const { return keeper_ != 0; }
    node::Identity keeper() const { return keeper_; }
    std::string policy() const { return board_->pool().policy; }
    node::Cores cores() const { return board_->pool().cores; }
    bool stops() const;

    Pool(Pool &&) = default;
    ~Pool();

  private:
    Pool() = default;
    std::string name_, path_;
    std::unique_ptr<node::Board> board_;
    node::Identity keeper_ = 0;
};

// The identity of the keeper whose slot is on the board; 0: none lives.
node::Identity find_keeper(node::Board &board);

// Signal the process, not another one that has its number now. False: it has ended.
bool send_signal(node::Identity process, int signal);
// False: it has not.
bool wait_until_ended(node::Identity process, int milliseconds);

} // namespace sennit::tool
