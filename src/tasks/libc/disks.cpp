// SPDX-License-Identifier: Apache-2.0
// Which calls on files on disks a helper makes, and these calls themselves, but for those that also
// are for pipes and sockets (files.cpp).
#include "tasks/libc/disks.h"
#include "tasks/libc/calls.h"
#include "tasks/pthread/bare.h"

#include <atomic>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sennit::libc {

using pthread::bare;

namespace {

// To copy so much takes 50 to 120 us, a helper 5 to 10 us more.
constexpr std::size_t kLong = 1 << 20;

// Writes that should only copy wait when the system has more to write than it wants to keep. None
// says so before. So after two in a row that took so long, those that follow soon go to helpers.
// One may only have lost its processor.
constexpr std::uint64_t kSlowWriteNs = 1'000'000;
constexpr std::uint64_t kSlowFor = 100'000'000;       // ns
constinit std::atomic<std::uint64_t> g_slow_until{0}; // relaxed: a hint
constinit std::atomic<bool> g_last_was_slow{false};   // relaxed, too

bool is_in_memory(int file) {
    struct statfs system;
    if (fstatfs(file, &system) != 0)
        return true;
    switch (static_cast<unsigned long>(system.f_type)) {
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
    case HUGETLBFS_MAGIC:
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

// A look at the last byte, which comes into memory last. The file's position stays.
bool may_wait_to_read(const Transfer &transfer, const struct stat &facts) {
    const off_t at = transfer.at == kWhereItIs ? lseek(transfer.file, 0, SEEK_CUR) : transfer.at;
    if (at < 0)
        return false; // libc says what is wrong
    off_t last = at + static_cast<off_t>(transfer.size) - 1;
    if (S_ISREG(facts.st_mode))
        last = std::min(last, facts.st_size - 1);
    if (last < at)
        return false; // behind its end, or the kernel makes what is in it, as in /proc
    char byte;
    const iovec vector = {&byte, 1};
    if (bare.preadv2(transfer.file, &vector, 1, last, RWF_NOWAIT) >= 0)
        return false;
    switch (errno) {
    case EAGAIN:
        return true;
    case EINVAL: // one byte is no block
        return ::fcntl(transfer.file, F_GETFL) & O_DIRECT;
    case EOPNOTSUPP: // such a system of files cannot say
    case ENOSYS:
        return !is_in_memory(transfer.file);
    default:
        return false;
    }
}

bool may_wait_to_write(const Transfer &transfer) {
    if (poll::now_ns() < g_slow_until.load(std::memory_order_relaxed))
        return true;
    const int flags = ::fcntl(transfer.file, F_GETFL);
    return flags >= 0 && (flags & (O_DIRECT | O_SYNC | O_DSYNC));
}

bool is_read(const Transfer &transfer) {
    return transfer.direction == Direction::in;
}

// size(): asked for only where the task may be suspended.
template <class Size, class Move>
ssize_t move_at(Transfer transfer, const void *caller, Size size, Move move) {
    sched::Worker *const worker = worker_of_task(caller);
    struct stat facts;
    if (!worker || transfer.at < 0 || !find_facts(transfer.file, facts) || !is_on_disk(facts))
        return move();
    transfer.size = size();
    return move_on_disk(*worker, transfer, facts, move);
}

// The kernel refuses other counts, and reads no vectors.
std::size_t size_of(const iovec *vectors, int count) {
    std::size_t size = 0;
    if (count > IOV_MAX)
        return size;
    for (int i = 0; i < count; ++i)
        size += vectors[i].iov_len;
    return size;
}

template <class Sync>
int sync(int file, const void *caller, Sync sync) {
    sched::Worker *const worker = worker_of_task(caller);
    struct stat facts;
    if (!worker || !find_facts(file, facts) || !(is_on_disk(facts) || S_ISDIR(facts.st_mode)))
        return sync();
    return elsewhere(*worker, CallEnds::by_itself, sync);
}

// With flags that libc's pread() does not have.
template <class Move>
ssize_t move_by_flags(const Transfer &transfer, const iovec *vectors, int count, int flags,
                      const void *caller, Move move) {
    sched::Worker *const worker = flags & RWF_NOWAIT ? nullptr : worker_of_task(caller);
    struct stat facts;
    if (!worker || transfer.at < kWhereItIs || !find_facts(transfer.file, facts) ||
        !is_on_disk(facts))
        return move();
    Transfer whole = transfer;
    whole.size = size_of(vectors, count);
    return flags & (RWF_DSYNC | RWF_SYNC) ? elsewhere(*worker, CallEnds::by_itself, move)
                                          : move_on_disk(*worker, whole, facts, move);
}

} // namespace

bool is_the_kernels(const char *path) {
    for (const char *folder : {"/proc/", "/sys/", "/dev/"})
        if (std::strncmp(path, folder, std::strlen(folder)) == 0)
            return true;
    return false;
}

bool may_wait_for_another(int folder, const char *path, bool makes_it) {
    const ErrnoKept kept;
    struct stat facts;
    if (fstatat(folder, path, &facts, 0) != 0)
        return errno != ENOENT || !makes_it;
    return !is_on_disk(facts) && !S_ISDIR(facts.st_mode);
}

bool may_wait_for_disk(const Transfer &transfer, const struct stat &facts) {
    if (transfer.size >= kLong)
        return true;
    const ErrnoKept kept;
    return is_read(transfer) ? may_wait_to_read(transfer, facts) : may_wait_to_write(transfer);
}

WriteTime::~WriteTime() {
    if (begin_ns_ == 0)
        return;
    const std::uint64_t now = poll::now_ns();
    const bool is_slow = now - begin_ns_ > kSlowWriteNs;
    const bool was_slow = g_last_was_slow.load(std::memory_order_relaxed);
    if (is_slow != was_slow) // seldom: the line stays shared
        g_last_was_slow.store(is_slow, std::memory_order_relaxed);
    if (is_slow && was_slow)
        g_slow_until.store(now + kSlowFor, std::memory_order_relaxed);
}

ssize_t pread(int file, void *bytes, std::size_t size, off_t at, const void *caller) {
    return move_at(
        {file, 0, at, Direction::in}, caller, [=] { return size; },
        [=] { return bare.pread(file, bytes, size, at); });
}

ssize_t pwrite(int file, const void *bytes, std::size_t size, off_t at, const void *caller) {
    return move_at(
        {file, 0, at, Direction::out}, caller, [=] { return size; },
        [=] { return bare.pwrite(file, bytes, size, at); });
}

ssize_t preadv(int file, const iovec *vectors, int count, off_t at, const void *caller) {
    return move_at(
        {file, 0, at, Direction::in}, caller, [=] { return size_of(vectors, count); },
        [=] { return bare.preadv(file, vectors, count, at); });
}

ssize_t pwritev(int file, const iovec *vectors, int count, off_t at, const void *caller) {
    return move_at(
        {file, 0, at, Direction::out}, caller, [=] { return size_of(vectors, count); },
        [=] { return bare.pwritev(file, vectors, count, at); });
}

ssize_t preadv2(int file, const iovec *vectors, int count, off_t at, int flags,
                const void *caller) {
    if (at == kWhereItIs && flags == 0)
        return libc::readv(file, vectors, count, caller);
    return move_by_flags({file, 0, at, Direction::in}, vectors, count, flags, caller,
                         [=] { return bare.preadv2(file, vectors, count, at, flags); });
}

ssize_t pwritev2(int file, const iovec *vectors, int count, off_t at, int flags,
                 const void *caller) {
    if (at == kWhereItIs && flags == 0)
        return libc::writev(file, vectors, count, caller);
    return move_by_flags({file, 0, at, Direction::out}, vectors, count, flags, caller,
                         [=] { return bare.pwritev2(file, vectors, count, at, flags); });
}

int fsync(int file, const void *caller) {
    return sync(file, caller, [=] { return bare.fsync(file); });
}

int fdatasync(int file, const void *caller) {
    return sync(file, caller, [=] { return bare.fdatasync(file); });
}

int syncfs(int file, const void *caller) {
    return sync(file, caller, [=] { return bare.syncfs(file); });
}

int sync_file_range(int file, off_t at, off_t size, unsigned flags, const void *caller) {
    return sync(file, caller, [=] { return bare.sync_file_range(file, at, size, flags); });
}

int msync(void *bytes, std::size_t size, int flags, const void *caller) {
    sched::Worker *const worker = flags & MS_SYNC ? worker_of_task(caller) : nullptr;
    const auto call = [=] { return bare.msync(bytes, size, flags); };
    return worker ? elsewhere(*worker, CallEnds::by_itself, call) : call();
}

int fallocate(int file, int mode, off_t at, off_t size, const void *caller) {
    return sync(file, caller, [=] { return bare.fallocate(file, mode, at, size); });
}

int posix_fallocate(int file, off_t at, off_t size, const void *caller) {
    return sync(file, caller, [=] { return bare.posix_fallocate(file, at, size); });
}

int aio_suspend(const aiocb *const calls[], int count, const timespec *time, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    const auto call = [=] { return bare.aio_suspend(calls, count, time); };
    return worker ? elsewhere(*worker, CallEnds::by_another, call) : call();
}

int openat(int folder, const char *path, int flags, mode_t mode, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    const auto open = [=] { return bare.openat(folder, path, flags, mode); };
    if (!worker || !path || is_the_kernels(path))
        return open();
    return open_in_task(*worker, folder, path, flags & O_CREAT, -1, open);
}

int open(const char *path, int flags, mode_t mode, const void *caller) {
    return libc::openat(AT_FDCWD, path, flags, mode, caller);
}

} // namespace sennit::libc
