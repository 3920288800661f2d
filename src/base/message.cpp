// SPDX-License-Identifier: Apache-2.0
#include "base/message.h"

#include "base/held_signals.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace sennit {
namespace {

constexpr const char *kHead = "sennit";
std::atomic<bool> g_warnings{true};

void emit(const char *head, const char *format, va_list args) {
    char line[1024];
    int used = std::snprintf(line, sizeof line, "%s: ", head);
    const int text =
        std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used), format, args);
    used += text > 0 ? text : 0;
    if (used > static_cast<int>(sizeof line) - 2)
        used = static_cast<int>(sizeof line) - 2;
    line[used++] = '\n';
    // If stderr is closed or full, there is no place left to report that. Nor does the program die
    // of it.
    const HeldSignals held({SIGPIPE, SIGXFSZ});
    [[maybe_unused]] const ssize_t ignored =
        ::write(STDERR_FILENO, line, static_cast<size_t>(used));
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
