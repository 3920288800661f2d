// SPDX-License-Identifier: Apache-2.0
#include "base/message.h"

#include "base/held_signals.h"
#include "base/printable.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace sennit {
namespace {

constexpr const char *kHead = "sennit";
std::atomic<bool> g_warnings{true};

void emit(const char *head, const char *format, va_list args) {
    char text[1024];
    const int length = std::vsnprintf(text, sizeof text, format, args);
    char line[1024];
    std::size_t used = static_cast<std::size_t>(std::snprintf(line, sizeof line, "%s: ", head));
    // Names of files and symbols, and values of variables, do nothing to a terminal.
    put_printable({text, length > 0 ? std::strlen(text) : 0}, Lines::many,
                  [&](std::string_view piece) {
                      if (used + piece.size() + 1 >= sizeof line)
                          return;
                      std::memcpy(line + used, piece.data(), piece.size());
                      used += piece.size();
                  });
    line[used++] = '\n';
    // If stderr is closed or full, there is no place left to report that. Nor does the program die
    // of it.
    const HeldSignals held({SIGPIPE, SIGXFSZ});
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line, used);
}

} // namespace

void set_warnings(bool on) {
    g_warnings.store(on, std::memory_order_relaxed);
}

void warn(const char *format, ...) {
    if (!g_warnings.load(std::memory_order_relaxed))
        return;
    va_list args;
    va_start(args, format);
    emit(kHead, format, args);
    va_end(args);
}

void warn_as(const char *head, const char *format, ...) {
    if (!g_warnings.load(std::memory_order_relaxed))
        return;
    va_list args;
    va_start(args, format);
    emit(head, format, args);
    va_end(args);
}

void fatal(const char *format, ...) {
    va_list args;
    va_start(args, format);
    emit(kHead, format, args);
    va_end(args);
    std::abort();
}

} // namespace sennit
