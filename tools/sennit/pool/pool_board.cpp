// SPDX-License-Identifier: Apache-2.0
#include "pool/pool_board.h"

#include "common/failure.h"

#include "node/look.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

struct flock lock_of(Duty duty) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(duty);
    lock.l_len = 1;
    return lock;
}

int open_file(const std::string &path) {
    return open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

// Absolute, since the keeper leaves this folder.
std::string file_of(const std::string &name) {
    char path[node::kPathRoom];
    node::pool_path(name, path, sizeof path);
    return fs::absolute(path).string();
}

} // namespace

std::optional<DutyLock> DutyLock::take(const std::string &path, Duty duty) {
    DutyLock result(open_file(path));
    struct flock lock = lock_of(duty);
    if (result.file_ < 0 || fcntl(result.file_, F_OFD_SETLK, &lock) != 0)
        return std::nullopt;
    return result;
}

DutyLock DutyLock::wait_for(const std::string &path, Duty duty) {
    DutyLock result(open_file(path));
    if (result.file_ < 0)
        fail("cannot open {}: {}", path, std::strerror(errno));
    struct flock lock = lock_of(duty);
    while (fcntl(result.file_, F_OFD_SETLKW, &lock) != 0)
        if (errno != EINTR)
            fail("cannot lock {}: {}", path, std::strerror(errno));
    return result;
}

bool DutyLock::is_taken(const std::string &path, Duty duty) {
    const DutyLock file(open_file(path));
    struct flock lock = lock_of(duty);
    return file.file_ >= 0 && fcntl(file.file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

DutyLock::~DutyLock() {
    if (file_ >= 0)
        close(file_);
}

bool DutyLock::is_of(const std::string &path) const {
    return node::is_at(file_, path.c_str());
}

std::string pool_file(const std::string &name) {
    if (!node::is_pool_name(name))
        fail("'{}' is no name for a pool: use at most {} letters, digits, '_', '-' and '.', a "
             "letter or digit first",
             name, node::kLongestPoolName);
    return file_of(name);
}

node::Identity find_keeper(node::Board &board) {
    node::Identity found = 0;
    board.each([&](int, node::BoardSlot &slot) {
        const node::Identity holder = slot.holder.load(std::memory_order_relaxed);
        if (slot.job.load(std::memory_order_relaxed) == keeper_job && node::is_alive(holder))
            found = holder;
    });
    return found;
}

Pool Pool::find(const std::string &name, bool needs_keeper) {
    Pool pool;
    pool.name_ = name;
    pool.path_ = pool_file(name);
    if (!node::is_in_use(pool.path_.c_str())) {
        struct stat facts{};
        if (stat(pool.path_.c_str(), &facts) == 0 && facts.st_uid != geteuid())
            fail("{} belongs to another user: choose another name, or remove it", pool.path_);
        node::remove_unused(pool.path_.c_str()); // of a keeper that was killed
        fail("there is no pool '{}': sennit pool start {}", name, name);
    }
    pool.board_ = std::make_unique<node::Board>();
    node::Reason reason;
    if (!pool.board_->open(pool.path_.c_str(), reason)) {
        pool.board_.reset();
        fail("pool '{}': {}", name, reason.text);
    }
    if (pool.board_->sweep() > 0) // the keeper may not have heard yet of who has died just now
        node::divide_cores(*pool.board_);
    if (DutyLock::is_taken(pool.path_, Duty::keeper))
        pool.keeper_ = find_keeper(*pool.board_);
    if (needs_keeper && !pool.has_keeper())
        fail("pool '{}' has lost its keeper, which was killed: sennit pool start {}", name, name);
    return pool;
}

Pool::~Pool() {
    if (board_)
        board_->close();
}

bool Pool::stops() const {
    return board_->pool().stops.load(std::memory_order_acquire) != 0;
}

std::vector<std::string> Pool::names() {
    const fs::path prefix = file_of("");
    const std::string beginning = prefix.filename().string();
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(prefix.parent_path(), error)) {
        const std::string file = entry.path().filename().string();
        if (!file.starts_with(beginning) || !node::is_pool_name(file.substr(beginning.size())))
            continue;
        if (node::is_in_use(entry.path().c_str()))
            found.push_back(file.substr(beginning.size()));
        else
            node::remove_unused(entry.path().c_str());
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool send_signal(node::Identity process, int signal) {
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, node::pid_of(process), 0));
    if (handle < 0 && errno == ESRCH)
        return false;
    const bool alive = node::is_alive(process);
    const bool sent =
        alive && handle >= 0 && syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0) == 0;
    const bool ended = handle >= 0 && errno == ESRCH;
    if (handle >= 0)
        close(handle);
    // By its number where the system lacks or forbids these calls.
    return sent || (alive && !ended && kill(node::pid_of(process), signal) == 0);
}

bool wait_until_ended(node::Identity process, int milliseconds) {
    constexpr int step = 5;
    for (int waited = 0; node::is_alive(process); waited += step) {
        if (waited >= milliseconds)
            return false;
        poll(nullptr, 0, step);
    }
    return true;
}

} // namespace sennit::tool
