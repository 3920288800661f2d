// SPDX-License-Identifier: Apache-2.0
// Calls that read from a FILE, whose lock belongs to a thread: a task that was suspended in such a
// call would let the next task of its thread in. So it is suspended in front of the call, until
// there is something to read. The call itself a helper thread makes (elsewhere.h), for it may wait
// for the rest of a line: the lock is the helper's meanwhile, and other tasks nap until it is free.
//
// Invariant: a call is made here only if all that it takes is in the buffer, or if it is libc's to
// block; and while this thread has the lock of a FILE, its task is not suspended. Whatever is read
// is read by libc's call, with its results and errors.
//
// What the program has locked by flockfile() stays with its thread: libc blocks. Calls that write
// stay with libc: how much it writes at once, and when, only its call knows.
#include "tasks/libc/calls.h"
#include "tasks/libc/disks.h"
#include "tasks/libc/files.h"
#include "tasks/pthread/bare.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <fcntl.h>
#include <optional>
#include <stdio_ext.h>
#include <unistd.h>

namespace sennit::libc {

using pthread::bare;

namespace {

// ---- the lock ----------------------------------------------------------------------------------

// glibc's lock of a FILE. Only the calling thread can have noted itself.
struct StreamLock {
    int lock;
    int count;
    void *owner;
};
bool is_locked_by_caller(const FILE &stream) {
    const auto *const lock = static_cast<const StreamLock *>(stream._lock);
    return lock && __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) ==
                       reinterpret_cast<void *>(pthread_self());
}

// The lock of a FILE, unless somebody else has it: a helper, or another thread.
class Held {
  public:
    explicit Held(FILE &stream) : stream_(stream), has_(ftrylockfile(&stream) == 0) {}
    ~Held() {
        if (has_)
            funlockfile(&stream_);
    }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    explicit operator bool() const { return has_; }

  private:
    FILE &stream_;
    const bool has_;
};

// ---- what to do with a call --------------------------------------------------------------------

enum class Next : std::uint8_t {
    call,      // it does not block, or libc is to block
    nap,       // somebody else has the lock
    elsewhere, // it may block: a helper makes it
    wait,      // when the file is ready
    fail,      // it has failed; errno says how
};

bool is_blocking(int file) {
    return file >= 0 && !is_nonblocking(file);
}

// The call fails as read() or write() would in it.
void note_error(FILE &stream, int error) {
    if (const Held held(stream); held)
        stream._flags |= _IO_ERR_SEEN;
    errno = error;
}

// Null: the file is ready.
std::optional<Next> wait_until_ready(sched::Worker &worker, FILE &stream, TimeLimit &limit) {
    switch (wait_for_file(worker, limit.file, limit.direction, limit.until())) {
    case End::over:
        return {};
    case End::late:
        note_error(stream, EAGAIN);
        return Next::fail;
    case End::interrupted:
        note_error(stream, EINTR);
        return Next::fail;
    case End::refused:
        break;
    }
    return Next::call;
}

// next(): asked with the lock.
template <class Result, class Look, class Call>
Result make(sched::Worker &worker, FILE &stream, Result failed, Look next, Call call) {
    std::optional<TimeLimit> limit;
    Retries retries(worker);
    const int before = errno;
    for (;;) {
        Next what = Next::nap;
        if (const Held held(stream); held) {
            what = next();
            if (what == Next::call) {
                errno = before;
                return call();
            }
        }
        if (what == Next::nap) {
            if (retries.nap() != End::refused) // a signal's handler does not end a wait for a lock
                continue;
            what = Next::call;
        }
        if (what == Next::wait) {
            if (!limit)
                limit.emplace(fileno_unlocked(&stream), Direction::in);
            const std::optional<Next> then = wait_until_ready(worker, stream, *limit);
            if (!then)
                continue;
            what = *then;
        }
        if (what == Next::fail)
            return failed;
        errno = before;
        return what == Next::call ? call() : function_elsewhere(worker, CallEnds::by_another, call);
    }
}

// ---- reading -----------------------------------------------------------------------------------

std::size_t in_buffer(const FILE &stream) {
    return static_cast<std::size_t>(stream._IO_read_end - stream._IO_read_ptr);
}
bool has_in_buffer(const FILE &stream, int byte) {
    return in_buffer(stream) > 0 &&
           std::memchr(stream._IO_read_ptr, byte, in_buffer(stream)) != nullptr;
}

// As libc does before it reads: who is to answer has to see the question.
void show_question() {
    if (!__flbf(stdout) || __fpending(stdout) == 0 || __fpending(stdout) > PIPE_BUF)
        return;
    if (const Held held(*stdout); held && is_ready(fileno_unlocked(stdout), Direction::out))
        std::fflush(stdout);
}

template <class Enough>
Next look_in(FILE &stream, Enough enough) {
    if (enough(stream) || feof_unlocked(&stream) || fwide(&stream, 0) > 0)
        return Next::call;
    const int file = fileno_unlocked(&stream); // none: memory, or functions of the program
    struct stat facts;
    if (!is_blocking(file) || !find_facts(file, facts) || S_ISDIR(facts.st_mode))
        return Next::call;
    if (is_on_disk(facts)) {
        const auto size = static_cast<std::size_t>(facts.st_blksize);
        return may_wait_for_disk({file, size, kWhereItIs, Direction::in}, facts) ? Next::elsewhere
                                                                                 : Next::call;
    }
    if (__fpending(&stream) > 0 || in_buffer(stream) > 0 || is_timed_terminal(file) ||
        is_ready(file, Direction::in))
        return Next::elsewhere;
    show_question();
    return Next::wait;
}

// enough(stream): is all in the buffer that the call takes?
template <class Result, class Enough, class Call>
Result take(FILE *stream, Result failed, const void *caller, Enough enough, Call call) {
    if (is_locked_by_caller(*stream))
        return call();
    if (const Held held(*stream); held && enough(*stream))
        return call();
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker)
        return call();
    return make(*worker, *stream, failed, [=] { return look_in(*stream, enough); }, call);
}

bool is_space(char byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

// At most so many words are taken, each with the space in front of it; 0: nobody knows.
int words_of(const char *format) {
    int words = 0;
    for (const char *at = format; *at; ++at) {
        if (*at == '%') {
            while (at[1] && std::strchr("*'0123456789$IhlLjztqmw", at[1]))
                ++at;
            if (!at[1] || std::strchr("[cCS", at[1]))
                return 0;
            ++at;
        }
        ++words;
    }
    return words;
}

// One word more shows that none of them goes on behind the buffer.
bool has_words(const FILE &stream, const char *format) {
    const char *at = stream._IO_read_ptr;
    const char *const end = stream._IO_read_end;
    if (at == end)
        return false;
    const int words = words_of(format);
    for (int i = 0; i <= words; ++i) {
        while (at != end && is_space(*at))
            ++at;
        while (at != end && !is_space(*at))
            ++at;
    }
    return words > 0 && at != end;
}

} // namespace

FILE *fopen(const char *path, const char *mode, const void *caller) {
    sched::Worker *const worker = worker_of_task(caller);
    const auto call = [=] { return bare.fopen(path, mode); };
    if (!worker || !path || !mode || is_the_kernels(path))
        return call();
    return open_in_task(*worker, AT_FDCWD, path, *mode != 'r', static_cast<FILE *>(nullptr), call);
}

FILE *freopen(const char *path, const char *mode, FILE *stream, const void *caller) {
    const auto call = [=] { return bare.freopen(path, mode, stream); };
    sched::Worker *const worker = !path || is_locked_by_caller(*stream) || is_the_kernels(path)
                                      ? nullptr
                                      : worker_of_task(caller);
    return worker ? function_elsewhere(*worker, CallEnds::by_another, call) : call();
}

int getc(FILE *stream, const void *caller) {
    return take(
        stream, EOF, caller, [](const FILE &s) { return in_buffer(s) > 0; },
        [=] { return bare.getc(stream); });
}

char *fgets(char *bytes, int size, FILE *stream, const void *caller) {
    const auto enough = [=](const FILE &s) {
        return size <= 1 || in_buffer(s) >= static_cast<std::size_t>(size) - 1 ||
               has_in_buffer(s, '\n');
    };
    return take(stream, static_cast<char *>(nullptr), caller, enough,
                [=] { return bare.fgets(bytes, size, stream); });
}

ssize_t getdelim(char **line, std::size_t *size, int delimiter, FILE *stream, const void *caller) {
    return take(
        stream, ssize_t{-1}, caller, [=](const FILE &s) { return has_in_buffer(s, delimiter); },
        [=] { return bare.getdelim(line, size, delimiter, stream); });
}

std::size_t fread(void *items, std::size_t size, std::size_t count, FILE *stream,
                  const void *caller) {
    const auto enough = [=](const FILE &s) { return size == 0 || in_buffer(s) / size >= count; };
    return take(stream, std::size_t{0}, caller, enough,
                [=] { return bare.fread(items, size, count, stream); });
}

static auto *bare_scan(Scan scan) {
    switch (scan) {
    case Scan::c99:
        return bare.__isoc99_vfscanf;
    case Scan::c23:
        return bare.__isoc23_vfscanf;
    default:
        return bare.vfscanf;
    }
}

int vfscanf(Scan scan, FILE *stream, const char *format, va_list arguments, const void *caller) {
    // The call may be made anew, in the child of fork(): each takes its own copy of the arguments.
    const auto call = [&] {
        va_list copy;
        va_copy(copy, arguments);
        const int read = bare_scan(scan)(stream, format, copy);
        va_end(copy);
        return read;
    };
    return take(stream, EOF, caller, [=](const FILE &s) { return has_words(s, format); }, call);
}

} // namespace sennit::libc
