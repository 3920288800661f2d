// SPDX-License-Identifier: Apache-2.0
#include "base/message.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace sennit {
namespace {

void emit(const char *format, va_list args) {
    char line[1024];
    int used = std::snprintf(line, sizeof line, "sennit: ");
    const int text =
        std::vsnprintf(line + used, sizeof line - static_cast<size_t>(used), format, args);
    used += text > 0 ? text : 0;
    if (used > static_cast<int>(sizeof line) - 2)
        used = static_cast<int>(sizeof line) - 2;
    line[used++] = '\n';
    // A closed or full stderr is nothing that we could report anywhere.
    [[maybe_unused]] const ssize_t ignored =
        ::write(STDERR_FILENO, line, static_cast<size_t>(used));
}

} // namespace

void warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    emit(format, args);
    va_end(args);
}

void fatal(const char *format, ...) {
    va_list args;
    va_start(args, format);
    emit(format, args);
    va_end(args);
    std::abort();
}

} // namespace sennit
