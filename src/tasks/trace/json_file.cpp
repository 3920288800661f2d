// SPDX-License-Identifier: Apache-2.0
#include "tasks/trace/json_file.h"

#include "base/held_signals.h"
#include "base/own_file.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace sennit::trace {
namespace {

// Decimal digits of `value` at the end of `digits`; returns the first.
char *print(std::uint64_t value, char *end, int least_digits = 1) {
    for (; value != 0 || least_digits > 0; value /= 10, --least_digits)
        *--end = static_cast<char>('0' + value % 10);
    return end;
}

std::uint64_t magnitude(std::int64_t value) {
    return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

} // namespace

char *absolute_path(const char *path) {
    char *folder = *path == '/' ? nullptr : get_current_dir_name();
    char *result = nullptr;
    if (asprintf(&result, "%s%s%s", folder ? folder : "", folder ? "/" : "", path) < 0)
        result = nullptr;
    std::free(folder);
    return result;
}

JsonFile::JsonFile(const char *path)
    : path_(path), buffer_(static_cast<char *>(std::malloc(kBuffer))) {
    char part[PATH_MAX];
    if (buffer_ && (file_ = create_part(path, part)) < 0)
        error_ = errno;
    else if (!buffer_ || !(part_path_ = strdup(part)))
        error_ = ENOMEM;
}

JsonFile::~JsonFile() {
    if (file_ >= 0)
        close(file_);
    std::free(buffer_);
    std::free(part_path_);
}

void JsonFile::flush() {
    const HeldSignals held({SIGXFSZ});
    for (std::size_t done = 0; done < used_ && !error_;) {
        const ssize_t count = write(file_, buffer_ + done, used_ - done);
        if (count >= 0)
            done += static_cast<std::size_t>(count);
        else if (errno != EINTR)
            error_ = errno;
    }
    used_ = 0;
}

void JsonFile::put(const char *bytes, std::size_t count) {
    while (count > 0 && !error_) {
        if (used_ == kBuffer)
            flush();
        const std::size_t part = count < kBuffer - used_ ? count : kBuffer - used_;
        std::memcpy(buffer_ + used_, bytes, part);
        used_ += part;
        bytes += part;
        count -= part;
    }
}

JsonFile &JsonFile::raw(const char *text) {
    put(text, std::strlen(text));
    return *this;
}

JsonFile &JsonFile::quoted(const char *text) {
    static constexpr char kHex[] = "0123456789abcdef";
    put("\"", 1);
    for (; *text; ++text) {
        const auto byte = static_cast<unsigned char>(*text);
        if (byte < 0x20) {
            const char escape[] = {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
            put(escape, sizeof escape);
        } else {
            if (byte == '"' || byte == '\\')
                put("\\", 1);
            put(text, 1);
        }
    }
    put("\"", 1);
    return *this;
}

JsonFile &JsonFile::number(std::int64_t value) {
    char digits[24];
    char *first = print(magnitude(value), digits + sizeof digits);
    if (value < 0)
        *--first = '-';
    put(first, static_cast<std::size_t>(digits + sizeof digits - first));
    return *this;
}

JsonFile &JsonFile::micros(std::int64_t ns) {
    char digits[28];
    const std::uint64_t size = magnitude(ns);
    char *first = print(size % 1000, digits + sizeof digits, 3);
    *--first = '.';
    first = print(size / 1000, first);
    if (ns < 0)
        *--first = '-';
    put(first, static_cast<std::size_t>(digits + sizeof digits - first));
    return *this;
}

bool JsonFile::finish(bool replace) {
    if (!error_)
        flush();
    if (file_ >= 0 && close(file_) != 0 && !error_)
        error_ = errno;
    const bool opened = file_ >= 0;
    file_ = -1;
    if (!error_) {
        // link() refuses where a file is, rename() replaces it.
        if (replace ? rename(part_path_, path_) == 0
                    : link(part_path_, path_) == 0 || errno == EEXIST) {
            if (!replace)
                unlink(part_path_);
            return true;
        }
        error_ = errno;
    }
    if (opened)
        unlink(part_path_);
    errno = error_;
    return false;
}

} // namespace sennit::trace
