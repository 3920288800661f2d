// SPDX-License-Identifier: Apache-2.0
// Reading, writing and connecting. Folders and files that are non-blocking go to libc. Those on
// disks are always ready: disks.h.
#include "tasks/libc/files.h"
#include "tasks/libc/calls.h"
#include "tasks/libc/disks.h"
#include "tasks/pthread/bare.h"

#include <algorithm>
#include <climits>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

namespace sennit::libc {

using pthread::bare;

bool is_nonblocking(int file) {
    const int flags = ::fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK);
}

bool is_ready(int file, Direction direction) {
    pollfd one = {file, static_cast<short>(direction == Direction::in ? POLLIN : POLLOUT), 0};
    return bare.poll(&one, 1, 0) != 0;
}

bool is_timed_terminal(int file) {
    termios settings;
    return tcgetattr(file, &settings) == 0 && !(settings.c_lflag & ICANON) &&
           (settings.c_cc[VMIN] == 0 || settings.c_cc[VTIME] > 0);
}

// SO_RCVTIMEO, SO_SNDTIMEO.
const Deadline &TimeLimit::until() {
    if (std::exchange(is_known_, true))
        return until_;
    timeval limit{};
    socklen_t size = sizeof limit;
    const int option = direction == Direction::in ? SO_RCVTIMEO : SO_SNDTIMEO;
    if (getsockopt(file, SOL_SOCKET, option, &limit, &size) != 0 ||
        (limit.tv_sec == 0 && limit.tv_usec == 0))
        return until_;
    return until_ = Deadline::in_ns(ns_of({limit.tv_sec, limit.tv_usec * 1000}), storage_);
}

namespace {

enum class Kind : std::uint8_t { never_waited_for, on_disk, socket, other };

Kind kind_of(const struct stat &facts) {
    if (is_on_disk(facts))
        return Kind::on_disk;
    if (S_ISDIR(facts.st_mode))
        return Kind::never_waited_for;
    return S_ISSOCK(facts.st_mode) ? Kind::socket : Kind::other;
}

bool is_stream(int socket) {
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

using Vectors = std::span<const iovec>;

std::size_t size_of(Vectors vectors) {
    std::size_t size = 0;
    for (const iovec &vector : vectors)
        size += vector.iov_len;
    return size;
}

// What of some vectors has not been moved yet.
class Rest {
  public:
    explicit Rest(Vectors vectors) : left_(vectors) {}

    // What comes next: one that was moved in part comes alone.
    Vectors next() const { return part_.iov_len > 0 ? Vectors(&part_, 1) : left_; }
    bool empty() const { return size_of(next()) == 0; }
    void moved(std::size_t bytes) {
        if (part_.iov_len > 0)
            return cut(bytes);
        while (!left_.empty() && bytes >= left_.front().iov_len) {
            bytes -= left_.front().iov_len;
            left_ = left_.subspan(1);
        }
        if (bytes == 0 || left_.empty()) // MSG_TRUNC: the message was longer
            return;
        part_ = left_.front();
        left_ = left_.subspan(1);
        cut(bytes);
    }

  private:
    void cut(std::size_t bytes) {
        part_.iov_base = static_cast<char *>(part_.iov_base) + bytes;
        part_.iov_len -= bytes;
    }

    Vectors left_;
    iovec part_ = {nullptr, 0};
};

// ---- pipes, terminals, devices -----------------------------------------------------------------

ssize_t block_on(int file, Vectors vectors, Direction direction) {
    const int count = static_cast<int>(vectors.size());
    return direction == Direction::in ? bare.readv(file, vectors.data(), count)
                                      : bare.writev(file, vectors.data(), count);
}

// Tasks that find a file ready at the same time: only one of them goes on, so that the others find
// it as that one leaves it.
class OneAtATime {
  public:
    explicit OneAtATime(int file) : lock_(lock_of(file)), has_(lock_.try_lock()) {}
    ~OneAtATime() SENNIT_NOT_CHECKED {
        if (has_)
            lock_.unlock();
    }
    OneAtATime(const OneAtATime &) = delete;
    OneAtATime &operator=(const OneAtATime &) = delete;
    bool has() const { return has_; }
    static void after_fork_in_child() {
        for (SpinLock &lock : s_locks)
            lock.after_fork_in_child();
    }

  private:
    static constexpr unsigned kLocks = 64;
    static SpinLock &lock_of(int file) { return s_locks[static_cast<unsigned>(file) % kLocks]; }
    static SpinLock s_locks[kLocks];

    SpinLock &lock_;
    const bool has_;
};
constinit SpinLock OneAtATime::s_locks[kLocks];

// attempt(): the call on a file that is ready.
template <class Attempt>
auto if_ready(int file, Direction direction, Attempt attempt) -> decltype(attempt()) {
    const OneAtATime one(file);
    return one.has() && is_ready(file, direction) ? attempt() : fail(EAGAIN);
}

// Old kernels, and drivers of devices, cannot say that they would block. What is ready takes so
// many bytes, and a pipe takes them at once or not at all.
ssize_t write_piece(int file, Vectors vectors) {
    if (size_of(vectors) <= PIPE_BUF)
        return block_on(file, vectors, Direction::out);
    const auto first = std::ranges::find_if(vectors, [](const iovec &v) { return v.iov_len > 0; });
    return bare.write(file, first->iov_base, std::min<std::size_t>(first->iov_len, PIPE_BUF));
}

ssize_t attempt(int file, Vectors vectors, Direction direction) {
    const int count = static_cast<int>(vectors.size());
    const ssize_t moved = direction == Direction::in
                              ? bare.preadv2(file, vectors.data(), count, kWhereItIs, RWF_NOWAIT)
                              : bare.pwritev2(file, vectors.data(), count, kWhereItIs, RWF_NOWAIT);
    if (moved >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
        return moved;
    if (is_nonblocking(file) || (direction == Direction::in && is_timed_terminal(file)))
        return block_on(file, vectors, direction);
    return if_ready(file, direction, [=] {
        return direction == Direction::in ? block_on(file, vectors, direction)
                                          : write_piece(file, vectors);
    });
}

// What is read in one piece may be less than was asked for; all is written.
ssize_t move(sched::Worker &worker, int file, Vectors vectors, Direction direction) {
    Rest rest(vectors);
    TimeLimit limit(file, direction);
    ssize_t sum = 0;
    do {
        const Vectors next = rest.next();
        const ssize_t moved = until_done(
            worker, limit, [=] { return attempt(file, next, direction); },
            [=] { return block_on(file, next, direction); });
        if (moved <= 0)
            return sum > 0 ? sum : moved;
        sum += moved;
        rest.moved(static_cast<std::size_t>(moved));
    } while (direction == Direction::out && !rest.empty());
    return sum;
}

// ---- sockets -----------------------------------------------------------------------------------

ssize_t one_message(int socket, msghdr &message, int flags, Direction direction) {
    return direction == Direction::in ? bare.recvmsg(socket, &message, flags)
                                      : bare.sendmsg(socket, &message, flags);
}

bool never_waits(int flags) {
    return flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB | MSG_FASTOPEN) ||
           (flags & (MSG_PEEK | MSG_WAITALL)) == (MSG_PEEK | MSG_WAITALL); // left to libc
}

ssize_t move_message(sched::Worker &worker, int socket, msghdr &message, int flags,
                     Direction direction) {
    const bool all = direction == Direction::out || ((flags & MSG_WAITALL) && is_stream(socket));
    Rest rest(Vectors(message.msg_iov, message.msg_iovlen));
    TimeLimit limit(socket, direction);
    msghdr part = message;
    ssize_t sum = 0;
    do {
        const Vectors next = rest.next();
        part.msg_iov = const_cast<iovec *>(next.data());
        part.msg_iovlen = next.size();
        const ssize_t moved = until_done(
            worker, limit,
            [&] { return one_message(socket, part, flags | MSG_DONTWAIT, direction); },
            [&] { return one_message(socket, part, flags, direction); });
        if (sum == 0 && moved >= 0) {
            message.msg_namelen = part.msg_namelen;
            message.msg_controllen = part.msg_controllen;
            message.msg_flags = part.msg_flags;
        }
        if (moved <= 0)
            return sum > 0 ? sum : moved;
        sum += moved;
        rest.moved(static_cast<std::size_t>(moved));
        part.msg_control = nullptr; // went with the first piece
        part.msg_controllen = 0;
    } while (all && !rest.empty());
    return sum;
}

// ---- both --------------------------------------------------------------------------------------

template <class Block>
ssize_t move_any(int file, Vectors vectors, Direction direction, const void *caller, Block block) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || vectors.size() > IOV_MAX || size_of(vectors) == 0)
        return block();
    struct stat facts;
    if (!find_facts(file, facts))
        return block();
    switch (kind_of(facts)) {
    case Kind::never_waited_for:
        return block();
    case Kind::on_disk:
        return move_on_disk(*worker, {file, size_of(vectors), kWhereItIs, direction}, facts, block);
    case Kind::other:
        return move(*worker, file, vectors, direction);
    case Kind::socket:
        break;
    }
    msghdr message{};
    message.msg_iov = const_cast<iovec *>(vectors.data());
    message.msg_iovlen = vectors.size();
    return move_message(*worker, file, message, 0, direction);
}

// What names the partner is in `message`.
template <class Block>
ssize_t move_to(int socket, const void *bytes, std::size_t size, msghdr &message, int flags,
                Direction direction, const void *caller, Block block) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || never_waits(flags))
        return block();
    iovec vector = {const_cast<void *>(bytes), size};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    return move_message(*worker, socket, message, flags, direction);
}

// Unlike the kernel's, they are made one by one, but for what goes at once.
template <class Batch>
int move_messages(sched::Worker &worker, int socket, std::span<mmsghdr> messages, int flags,
                  Direction direction, const Deadline &until, Batch batch) {
    const bool only_first = flags & MSG_WAITFORONE;
    int done = is_stream(socket) ? 0 : batch(flags | MSG_DONTWAIT);
    if (done < 0 && errno != EAGAIN)
        return done;
    done = std::max(done, 0);
    for (mmsghdr &message : messages.subspan(static_cast<unsigned>(done))) {
        if (done > 0 && (only_first || until.over()))
            return done;
        const ssize_t moved =
            move_message(worker, socket, message.msg_hdr, flags & ~MSG_WAITFORONE, direction);
        if (moved < 0)
            return done > 0 ? done : -1;
        message.msg_len = static_cast<unsigned>(moved);
        ++done;
    }
    return done;
}

} // namespace

ssize_t read(int file, void *bytes, std::size_t size, const void *caller) {
    const iovec vector = {bytes, size};
    return move_any(file, {&vector, 1}, Direction::in, caller,
                    [=] { return bare.read(file, bytes, size); });
}

ssize_t write(int file, const void *bytes, std::size_t size, const void *caller) {
    const iovec vector = {const_cast<void *>(bytes), size};
    return move_any(file, {&vector, 1}, Direction::out, caller,
                    [=] { return bare.write(file, bytes, size); });
}

ssize_t readv(int file, const iovec *vectors, int count, const void *caller) {
    return move_any(file, {vectors, static_cast<std::size_t>(count)}, Direction::in, caller,
                    [=] { return bare.readv(file, vectors, count); });
}

ssize_t writev(int file, const iovec *vectors, int count, const void *caller) {
    return move_any(file, {vectors, static_cast<std::size_t>(count)}, Direction::out, caller,
                    [=] { return bare.writev(file, vectors, count); });
}

ssize_t recv(int file, void *bytes, std::size_t size, int flags, const void *caller) {
    msghdr message{};
    return move_to(file, bytes, size, message, flags, Direction::in, caller,
                   [=] { return bare.recv(file, bytes, size, flags); });
}

ssize_t recvfrom(int file, void *bytes, std::size_t size, int flags, sockaddr *from,
                 socklen_t *length, const void *caller) {
    msghdr message{};
    message.msg_name = from;
    message.msg_namelen = from && length ? *length : 0;
    const ssize_t received = move_to(file, bytes, size, message, flags, Direction::in, caller, [&] {
        const ssize_t result = bare.recvfrom(file, bytes, size, flags, from, length);
        message.msg_namelen = from && length ? *length : 0;
        return result;
    });
    if (received >= 0 && from && length)
        *length = message.msg_namelen;
    return received;
}

ssize_t send(int file, const void *bytes, std::size_t size, int flags, const void *caller) {
    msghdr message{};
    return move_to(file, bytes, size, message, flags, Direction::out, caller,
                   [=] { return bare.send(file, bytes, size, flags); });
}

ssize_t sendto(int file, const void *bytes, std::size_t size, int flags, const sockaddr *to,
               socklen_t length, const void *caller) {
    msghdr message{};
    message.msg_name = const_cast<sockaddr *>(to);
    message.msg_namelen = to ? length : 0;
    return move_to(file, bytes, size, message, flags, Direction::out, caller,
                   [=] { return bare.sendto(file, bytes, size, flags, to, length); });
}

ssize_t recvmsg(int file, msghdr *message, int flags, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || never_waits(flags))
        return bare.recvmsg(file, message, flags);
    return move_message(*worker, file, *message, flags, Direction::in);
}

ssize_t sendmsg(int file, const msghdr *message, int flags, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || never_waits(flags))
        return bare.sendmsg(file, message, flags);
    msghdr copy = *message;
    return move_message(*worker, file, copy, flags, Direction::out);
}

// ---- connections -------------------------------------------------------------------------------

namespace {

// Another process, or a thread outside of tasks, may take the connection first: then this waits for
// the next one in libc.
template <class Accept>
int accept_one(int file, const void *caller, Accept block) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || is_nonblocking(file))
        return block();
    TimeLimit limit(file, Direction::in);
    return until_done(*worker, limit, [=] { return if_ready(file, Direction::in, block); }, block);
}

// As connect() of a non-blocking socket, which it is meanwhile.
int begin_to_connect(int file, const sockaddr *to, socklen_t length) {
    const int flags = ::fcntl(file, F_GETFL);
    if (flags < 0)
        return -1;
    ::fcntl(file, F_SETFL, flags | O_NONBLOCK);
    const int result = bare.connect(file, to, length);
    const int error = errno;
    ::fcntl(file, F_SETFL, flags);
    errno = error;
    return result;
}

int wait_until_connected(sched::Worker &worker, int file, const Deadline &until) {
    End end = End::over;
    while (end == End::over && !is_ready(file, Direction::out))
        end = wait_for_file(worker, file, Direction::out, until);
    if (end == End::interrupted)
        return fail(EINTR);
    if (end == End::late)
        return fail(EINPROGRESS);
    if (pollfd one = {file, POLLOUT, 0}; end == End::refused && bare.poll(&one, 1, -1) < 0)
        return -1;
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return -1;
    return error == 0 ? 0 : fail(error);
}

} // namespace

int recvmmsg(int file, mmsghdr *messages, unsigned count, int flags, timespec *time,
             const void *caller) {
    sched::Worker *const worker = never_waits(flags) ? nullptr : worker_of_task(caller);
    if (!worker || (time && !is_valid(*time)))
        return bare.recvmmsg(file, messages, count, flags, time);
    timespec storage;
    const Deadline until = time ? Deadline::in_ns(ns_of(*time), storage) : Deadline();
    const int received = move_messages(
        *worker, file, {messages, count}, flags, Direction::in, until,
        [=](int tried) { return bare.recvmmsg(file, messages, count, tried, nullptr); });
    if (time && received > 0)
        *time = left_until(until);
    return received;
}

int sendmmsg(int file, mmsghdr *messages, unsigned count, int flags, const void *caller) {
    sched::Worker *const worker = never_waits(flags) ? nullptr : worker_of_task(caller);
    if (!worker)
        return bare.sendmmsg(file, messages, count, flags);
    return move_messages(*worker, file, {messages, count}, flags, Direction::out, Deadline(),
                         [=](int tried) { return bare.sendmmsg(file, messages, count, tried); });
}

int accept(int file, sockaddr *from, socklen_t *length, const void *caller) {
    return accept_one(file, caller, [=] { return bare.accept(file, from, length); });
}

int accept4(int file, sockaddr *from, socklen_t *length, int flags, const void *caller) {
    return accept_one(file, caller, [=] { return bare.accept4(file, from, length, flags); });
}

void files_after_fork_in_child() {
    OneAtATime::after_fork_in_child();
}

int connect(int file, const sockaddr *to, socklen_t length, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || is_nonblocking(file))
        return bare.connect(file, to, length);
    TimeLimit limit(file, Direction::out);
    const Deadline until = limit.until();
    Retries retries(*worker);
    while (begin_to_connect(file, to, length) != 0) {
        if (errno == EINPROGRESS || errno == EALREADY) // EALREADY: an earlier call has begun it
            return wait_until_connected(*worker, file, until);
        if (errno != EAGAIN) // a local socket's queue is full, and nobody tells
            return -1;
        switch (retries.nap(until)) {
        case End::over:
            break;
        case End::late:
            return fail(EAGAIN);
        case End::interrupted:
            return fail(EINTR);
        case End::refused:
            return bare.connect(file, to, length);
        }
    }
    return 0;
}

} // namespace sennit::libc
