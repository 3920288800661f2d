// SPDX-License-Identifier: Apache-2.0
#include "ranks/inside/own_entry.h"

#include "base/compiler.h"
#include "ranks/inside/self.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace sennit::loader::inside {
namespace {

// Moves `at` behind the text if it begins with it.
bool skip(const char *&at, const char *text) {
    const std::size_t length = std::strlen(text);
    if (std::strncmp(at, text, length) != 0)
        return false;
    at += length;
    return true;
}

// A number and a slash; -1: there is none.
long skip_number(const char *&at) {
    if (*at < '1' || *at > '9')
        return -1;
    char *end = nullptr;
    const long number = std::strtol(at, &end, 10);
    if (*end != '/')
        return -1;
    at = end + 1;
    return number;
}

bool write_all(int file, const char *bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t written = write(file, bytes, size);
        if (written < 0)
            return false;
        bytes += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

bool write_text(int file, const char *text) {
    return write_all(file, text, std::strlen(text) + 1);
}

bool write_arguments(int file) {
    bool well = true;
    for (char **word = arguments(); well && word && *word; ++word)
        well = write_text(file, *word);
    return well;
}

bool write_environment(int file) {
    bool well = true;
    const char *text = nullptr;
    for (const char *at = nullptr; well && next_of_environment(at, text);)
        well = !text || write_text(file, text);
    return well;
}

} // namespace

OwnEntry own_entry(const char *path) {
    if (SENNIT_LIKELY(!path || !skip(path, "/proc/")) || !is_rank())
        return OwnEntry::none;
    const bool by_name = skip(path, "self/") || skip(path, "thread-self/");
    if (!by_name && skip_number(path) != getpid())
        return OwnEntry::none;
    if (skip(path, "task/") && skip_number(path) < 0)
        return OwnEntry::none;
    if (std::strcmp(path, "exe") == 0)
        return OwnEntry::exe;
    if (std::strcmp(path, "cmdline") == 0)
        return OwnEntry::cmdline;
    return std::strcmp(path, "environ") == 0 ? OwnEntry::environ : OwnEntry::none;
}

const char *real_program(const char *given) {
    if (SENNIT_LIKELY(own_entry(given) != OwnEntry::exe))
        return given;
    const char *const path = program_path();
    return path ? path : given;
}

RealPath::RealPath(const char *given) : path_(given) {
    const OwnEntry entry = own_entry(given);
    if (SENNIT_LIKELY(entry == OwnEntry::none))
        return;
    if (entry == OwnEntry::exe) {
        path_ = real_program(given);
        return;
    }
    const bool of_arguments = entry == OwnEntry::cmdline;
    file_ = memfd_create(of_arguments ? "cmdline" : "environ", MFD_CLOEXEC);
    failed_ = file_ < 0 || !(of_arguments ? write_arguments(file_) : write_environment(file_));
    std::snprintf(of_file_, sizeof of_file_, "/proc/self/fd/%d", file_);
    path_ = of_file_;
}

RealPath::~RealPath() {
    if (SENNIT_LIKELY(file_ < 0))
        return;
    const int error = errno;
    close(file_);
    errno = error;
}

} // namespace sennit::loader::inside
