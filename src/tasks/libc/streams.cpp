// SPDX-License-Identifier: Apache-2.0
// Calls on a FILE, whose lock belongs to a thread: a task that was suspended in such a call would
// let the next task of its thread in. So it is suspended in front of the call, until the file is
// ready. A call that may block even then, as for the rest of a line, a helper thread makes
// (elsewhere.h): the lock is the helper's, and who wants it meanwhile goes to a helper, too.
//
// Invariant: while this thread has the lock of a FILE, the task is not suspended, and the call that
// it makes does not block: what the call takes is in the buffer, or there is room for what it
// gives. Another process that reads the same pipe may take it first: then the call blocks in libc.
//
// What the program has locked by flockfile() stays with its thread: libc blocks.
#include "tasks/libc/calls.h"
#include "tasks/libc/disks.h"
#include "tasks/libc/files.h"
#include "tasks/pthread/bare.h"

#include "base/spin.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <optional>
#include <stdio_ext.h>
#include <unistd.h>

namespace sennit::libc {

using pthread::bare;

namespace {

// ---- the lock
// ------------------------------------------------------------------------------------

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

// The lock of a FILE, unless somebody else has it for long: a helper, or a thread that blocks.
class Held {
  public:
    explicit Held(FILE &stream) : stream_(stream), has_(try_for_a_while(stream)) {}
    ~Held() {
        if (has_)
            funlockfile(&stream_);
    }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    explicit operator bool() const { return has_; }

  private:
    static bool try_for_a_while(FILE &stream) {
        for (int i = 0; i < 200; ++i) {
            if (ftrylockfile(&stream) == 0)
                return true;
            cpu_relax();
        }
        return false;
    }

    FILE &stream_;
    const bool has_;
};

// ---- what to do with a call
// ----------------------------------------------------------------------

enum class Next : std::uint8_t {
    call,      // it does not block, or libc is to block
    elsewhere, // it may: a helper makes it
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
Result make(sched::Worker &worker, FILE &stream, Direction direction, Result failed, Look next,
            Call call) {
    std::optional<TimeLimit> limit;
    const int before = errno;
    for (;;) {
        Next what = Next::elsewhere;
        if (const Held held(stream); held) {
            what = next();
            if (what == Next::call) {
                errno = before;
                return call();
            }
        }
        if (what == Next::wait) {
            if (!limit)
                limit.emplace(fileno_unlocked(&stream), direction);
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

// ---- reading
// -------------------------------------------------------------------------------------

std::size_t in_buffer(const FILE &stream) {
    return static_cast<std::size_t>(stream._IO_read_end - stream._IO_read_ptr);
}
bool has_in_buffer(const FILE &stream, int byte) {
    return std::memchr(stream._IO_read_ptr, byte, in_buffer(stream)) != nullptr;
}

// As libc does before it reads: who is to answer has to see the question.
void show_question() {
    if (!__flbf(stdout) || __fpending(stdout) == 0)
        return;
    if (const Held held(*stdout); held && is_ready(fileno_unlocked(stdout), Direction::out))
        bare.fflush(stdout);
}

// One byte that is there fills the buffer, by one read(), and goes back.
template <class Enough>
Next fill(FILE &stream, Enough enough) {
    const int byte = getc_unlocked(&stream);
    if (byte == EOF) // the end is remembered
        return feof_unlocked(&stream) ? Next::call : Next::fail;
    ungetc(byte, &stream);
    return enough(stream) ? Next::call : Next::elsewhere;
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
    if (__fpending(&stream) > 0 || in_buffer(stream) > 0 || is_timed_terminal(file))
        return Next::elsewhere;
    if (is_ready(file, Direction::in))
        return fill(stream, enough);
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
    return make(
        *worker, *stream, Direction::in, failed, [=] { return look_in(*stream, enough); }, call);
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

// ---- writing
// -------------------------------------------------------------------------------------

// Is there room, and does libc not write it at once? bytes: null if nobody knows them.
bool fits(FILE &stream, const char *bytes, std::size_t size) {
    const char *const at = stream._IO_write_ptr;
    if (at < stream._IO_write_end) // it is written when the buffer is full
        return size < static_cast<std::size_t>(stream._IO_write_end - at);
    return __flbf(&stream) && bytes && at > stream._IO_write_base && at < stream._IO_buf_end &&
           size < static_cast<std::size_t>(stream._IO_buf_end - at) &&
           !std::memchr(bytes, '\n', size);
}

// False: libc's call may block, or does not for long.
bool is_waited_for(FILE &stream) {
    const int file = fileno_unlocked(&stream); // none: memory, or functions of the program
    struct stat facts;
    return is_blocking(file) && find_facts(file, facts) && !is_on_disk(facts) &&
           !S_ISDIR(facts.st_mode);
}

// So many bytes are written at most; SIZE_MAX: nobody knows.
std::size_t longest(const char *format) {
    constexpr std::size_t kNumber = 512; // of a double, with 99 digits behind the point
    std::size_t size = 0;
    for (const char *at = format; *at; ++at, ++size) {
        if (*at != '%')
            continue;
        int digits = 0;
        for (; at[1] && std::strchr("0123456789.-+ #hljzt", at[1]) && digits < 3; ++at)
            digits = at[1] >= '0' && at[1] <= '9' ? digits + 1 : 0;
        if (digits > 2 || !at[1] || !std::strchr("diouxXcpeEfFgGaA%", at[1]))
            return SIZE_MAX;
        ++at;
        size += kNumber;
    }
    return size;
}

// A file that is ready takes as much as a pipe does at once.
Next look_out(FILE &stream, std::size_t size) {
    if (!is_waited_for(stream))
        return Next::call;
    if (!is_ready(fileno_unlocked(&stream), Direction::out))
        return Next::wait;
    return __fpending(&stream) + size <= PIPE_BUF ? Next::call : Next::elsewhere;
}

template <class Result, class Call>
Result give(FILE *stream, const char *bytes, std::size_t size, Result failed, const void *caller,
            Call call) {
    if (is_locked_by_caller(*stream))
        return call();
    if (const Held held(*stream); held && fits(*stream, bytes, size))
        return call();
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker)
        return call();
    return make(
        *worker, *stream, Direction::out, failed, [=] { return look_out(*stream, size); }, call);
}

} // namespace

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

// A call may be made anew, in the child of fork(): each takes its own copy of the arguments.
template <class Call>
int with_copy(va_list arguments, Call call) {
    va_list copy;
    va_copy(copy, arguments);
    const int result = call(copy);
    va_end(copy);
    return result;
}

int vfscanf(Scan scan, FILE *stream, const char *format, va_list arguments, const void *caller) {
    const auto call = [&](va_list copy) {
        switch (scan) {
        case Scan::c99:
            return bare.__isoc99_vfscanf(stream, format, copy);
        case Scan::c23:
            return bare.__isoc23_vfscanf(stream, format, copy);
        case Scan::gnu:
            break;
        }
        return bare.vfscanf(stream, format, copy);
    };
    return take(
        stream, EOF, caller, [=](const FILE &s) { return has_words(s, format); },
        [&] { return with_copy(arguments, call); });
}

int putc(int byte, FILE *stream, const void *caller) {
    const char out = static_cast<char>(byte);
    return give(stream, &out, 1, EOF, caller, [=] { return bare.putc(byte, stream); });
}

int fputs(const char *text, FILE *stream, const void *caller) {
    return give(stream, text, std::strlen(text), EOF, caller,
                [=] { return bare.fputs(text, stream); });
}

int puts(const char *text, const void *caller) {
    return give(stdout, nullptr, std::strlen(text) + 1, EOF, caller,
                [=] { return bare.puts(text); });
}

std::size_t fwrite(const void *items, std::size_t size, std::size_t count, FILE *stream,
                   const void *caller) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(size, count, &bytes))
        return bare.fwrite(items, size, count, stream);
    return give(stream, static_cast<const char *>(items), bytes, std::size_t{0}, caller,
                [=] { return bare.fwrite(items, size, count, stream); });
}

int fflush(FILE *stream, const void *caller) {
    if (stream)
        return __fpending(stream) == 0
                   ? bare.fflush(stream)
                   : give(stream, nullptr, 0, EOF, caller, [=] { return bare.fflush(stream); });
    sched::Worker *const worker = worker_of_task(caller); // all of them
    const auto call = [] { return bare.fflush(nullptr); };
    return worker ? function_elsewhere(*worker, CallEnds::by_another, call) : call();
}

// libc's frees the lock: it is only for what is left then.
int fclose(FILE *stream, const void *caller) {
    if (__fpending(stream) == 0)
        return bare.fclose(stream);
    const bool is_flushed = libc::fflush(stream, caller) == 0;
    const int error = errno;
    if (bare.fclose(stream) != 0)
        return EOF;
    errno = error;
    return is_flushed ? 0 : EOF;
}

int vfprintf(Print print, FILE *stream, const char *format, va_list arguments, const void *caller) {
    // How long a text is that may be long shows only when it is made.
    const auto call = [&] {
        return with_copy(arguments, [&](va_list copy) {
            return print.checked < 0 ? bare.vfprintf(stream, format, copy)
                                     : bare.__vfprintf_chk(stream, print.checked, format, copy);
        });
    };
    if (is_locked_by_caller(*stream))
        return call();
    if (const Held held(*stream); held && fits(*stream, nullptr, longest(format)))
        return call();
    sched::Worker *const worker = worker_of_task(caller);
    if (!worker || !is_waited_for(*stream))
        return call();
    const int size = with_copy(
        arguments, [=](va_list copy) { return std::vsnprintf(nullptr, 0, format, copy); });
    if (size < 0)
        return call();
    return make(
        *worker, *stream, Direction::out, -1,
        [=] { return look_out(*stream, static_cast<std::size_t>(size)); }, call);
}

} // namespace sennit::libc
