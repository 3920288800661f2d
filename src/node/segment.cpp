// SPDX-License-Identifier: Apache-2.0
#include "node/segment.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/held_signals.h"
#include "base/kept_file.h"
#include "wait/rows.h"

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sennit::node {
namespace {

constexpr const char *kFolder = "/dev/shm";

// The end of a long path: it tells one board from another, and leaves room for the rest of the
// line.
const char *end_of(const char *path) {
    constexpr std::size_t most = 160;
    const std::size_t length = std::strlen(path);
    return length <= most ? path : path + length - most;
}

// An open descriptor keeps them: /proc/<pid>/fd/<n> of a launcher that has no /dev/shm.
bool is_memfd(const char *path) {
    return std::strncmp(path, "/proc/", 6) == 0;
}

// Is it one? A launcher's number on another machine, or in a container, is another process's.
bool is_memory(const char *path) {
    char text[8] = "";
    return readlink(path, text, sizeof text) == sizeof text &&
           std::memcmp(text, "/memfd:", sizeof text - 1) == 0;
}

// `flags` are more of them, where the file has a name.
int open_board(const char *path, int flags = 0) {
    return above_standard(
        ::open(path, O_RDWR | O_CLOEXEC | (is_memfd(path) ? 0 : O_NOFOLLOW | flags), 0600));
}

// If no process uses the board. Then none begins to, either, until the file is closed.
bool lock_unused(int file) {
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}

// Something else than a board, of this version or another one, that is or was begun.
bool is_foreign(int file, const struct stat &facts) {
    char text[sizeof kMagic] = "";
    return facts.st_size != 0 && (pread(file, text, sizeof text, 0) != sizeof text ||
                                  std::memcmp(text, kMagic, sizeof text) != 0);
}

// An error's number, or 0. Its name comes first, or nobody would know it if we died here.
int make_room(int file, std::size_t size) {
    const HeldSignals held({SIGXFSZ});
    if (ftruncate(file, 0) != 0 || pwrite(file, kMagic, sizeof kMagic, 0) != sizeof kMagic)
        return errno;
    return make_file_room(file, sizeof kMagic, static_cast<off_t>(size - sizeof kMagic));
}

std::uint64_t pid_namespace() {
    struct stat facts{};
    return stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
}

} // namespace

void Reason::say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
}

bool Segment::open(const char *path, std::size_t size, void (*begin)(void *), Reason &reason) {
    const std::int64_t end = monotonic_ns() + wait::kBoardIsHeld.yield_ns;
    while (!take(path, size, begin, reason)) {
        give_up();
        if (reason)
            return false;
        if (monotonic_ns() > end) {
            reason.say("%s is held by a process that does not go on", end_of(path));
            return false;
        }
        sched_yield();
    }
    return true;
}

// False without a reason: another process opens or removes it just now.
bool Segment::take(const char *path, std::size_t size, void (*begin)(void *), Reason &reason) {
    std::snprintf(path_, sizeof path_, "%s", path);
    if (is_memfd(path) && !is_memory(path)) {
        reason.say("%s is no memory of a launcher's", end_of(path));
        return false;
    }
    file_ = open_board(path, O_CREAT);
    struct stat facts{};
    if (file_ < 0 || fstat(file_, &facts) != 0) {
        reason.say("%s cannot be opened (%s)", end_of(path), std::strerror(errno));
        return false;
    }
    if (facts.st_uid != geteuid() || (!is_memfd(path) && (facts.st_mode & 077) != 0)) {
        reason.say("%s belongs to another user or is open to others: remove it", end_of(path));
        return false;
    }
    const bool alone = lock_unused(file_);
    if (!alone && flock(file_, LOCK_SH | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) // it is being begun
            reason.say("%s cannot be locked (%s)", end_of(path), std::strerror(errno));
        return false;
    }
    if (!is_linked() || fstat(file_, &facts) != 0)
        return false;
    if (is_foreign(file_, facts)) {
        reason.say("%s is no board of Sennit's: remove it, or name another file", end_of(path));
        return false;
    }
    if (alone) {
        // All pages at once: a full file system shows here, not by a signal later.
        if (const int error = make_room(file_, size)) {
            reason.say("no memory for %s (%s)", end_of(path), std::strerror(error));
            if (!is_memfd(path))
                unlink(path); // nobody else has it
            return false;
        }
    } else if (static_cast<std::size_t>(facts.st_size) != size) {
        reason.say("%s is of another version of Sennit, and in use", end_of(path));
        return false;
    }
    // NOLINTNEXTLINE(clang-analyzer-unix.StdCLibraryFunctions): no board is empty
    memory_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory_ == MAP_FAILED) {
        memory_ = nullptr;
        reason.say("%s cannot be mapped (%s)", end_of(path), std::strerror(errno));
        return false;
    }
    size_ = size;
    if (alone) {
        begin(memory_);
        // Not in one step: another joiner may come between, find nobody, and begin once more.
        while (flock(file_, LOCK_SH) != 0)
            if (errno != EINTR)
                return false;
    }
    return is_linked();
}

// Or has who left last removed it since we have opened it?
bool Segment::is_linked() const {
    return is_memfd(path_) || is_at(file_, path_);
}

void Segment::give_up() {
    if (memory_)
        munmap(memory_, size_);
    if (file_ >= 0)
        ::close(file_);
    memory_ = nullptr;
    file_ = -1;
}

void Segment::close() {
    if (file_ >= 0 && !is_memfd(path_) && lock_unused(file_) && is_linked())
        unlink(path_);
    if (file_ >= 0)
        flock(file_, LOCK_UN); // the mapping would keep it
    abandon();
}

void Segment::abandon() {
    if (file_ >= 0)
        ::close(file_);
    file_ = -1;
}

bool is_at(int file, const char *path) {
    struct stat own{};
    struct stat there{};
    return fstat(file, &own) == 0 && lstat(path, &there) == 0 && own.st_ino == there.st_ino &&
           own.st_dev == there.st_dev;
}

void remove_unused(const char *path) {
    if (is_memfd(path))
        return;
    const int file = open_board(path);
    if (file < 0)
        return;
    // Between open and lock others may have removed this file, and have made the one that has the
    // path now. Only the holder of the lock of the file at the path removes it.
    struct stat facts{};
    if (lock_unused(file) && is_at(file, path) && fstat(file, &facts) == 0 && facts.st_size != 0 &&
        !is_foreign(file, facts))
        unlink(path);
    ::close(file);
}

bool is_in_use(const char *path) {
    const int file = is_memfd(path) && !is_memory(path) ? -1 : open_board(path);
    if (file < 0)
        return false;
    const bool used = !lock_unused(file);
    ::close(file);
    return used;
}

bool provide_board(char *path, std::size_t size) {
    if (access(kFolder, W_OK | X_OK) == 0)
        return false;
    const int file = above_standard(memfd_create("sennit-board", MFD_CLOEXEC));
    if (file < 0)
        return false;
    std::snprintf(path, size, "/proc/%d/fd/%d", getpid(), file);
    return true;
}

void board_path(char *path, std::size_t size) {
    const char *const given = trusted_environment("SENNIT_BOARD");
    if (given && *given && (!is_memfd(given) || is_memory(given))) {
        std::snprintf(path, size, "%s", given);
        return;
    }
    const char *folder = kFolder;
    if (access(folder, W_OK | X_OK) != 0) {
        const char *temporary = trusted_environment("TMPDIR");
        folder = temporary && *temporary ? temporary : "/tmp";
    }
    std::snprintf(path, size, "%s/sennit-%u-%lx-%u", folder, geteuid(),
                  static_cast<unsigned long>(pid_namespace()), kBoardVersion);
}

} // namespace sennit::node
