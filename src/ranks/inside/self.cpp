// SPDX-License-Identifier: Apache-2.0
#include "ranks/inside/self.h"

#include "base/compiler.h"
#include "base/rank.h"
#include "ranks/loader/first_stack.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sennit::loader::inside {
namespace {

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kPython[] = "SENNIT_PYTHON_PROGRAM="; // tools/sennit/launch/virtual_rank.cpp

std::atomic<bool> g_forked{false};
char **g_arguments;
char *g_preload;               // the variable as it came
char *g_preload_left;          // without this library; null: nothing is left
const char *g_program_of_tool; // if the rank runs another's program, that one
char g_path[PATH_MAX];

bool begins(const char *text, const char *with) {
    return std::strncmp(text, with, std::strlen(with)) == 0;
}

char **variable(const char *begin) {
    for (char **at = environ; at && *at; ++at)
        if (begins(*at, begin))
            return at;
    return nullptr;
}

void drop(char **at) {
    for (; *at; ++at)
        at[0] = at[1];
}

// In place: `environ` stays what main gets as its third argument.
void leave_environment() {
    if (char **python = variable(kPython)) {
        g_program_of_tool = *python + sizeof kPython - 1;
        drop(python);
    }
    char **const preload = variable(kPreload);
    Dl_info self{};
    if (!preload || dladdr(reinterpret_cast<void *>(&leave_environment), &self) == 0)
        return;
    char *const list = *preload + sizeof kPreload - 1;
    const std::size_t length = std::strlen(self.dli_fname);
    if (std::strncmp(list, self.dli_fname, length) != 0)
        return;
    g_preload = *preload;
    if (list[length] != ':')
        return drop(preload);
    const std::size_t left = std::strlen(list + length + 1) + 1;
    g_preload_left = static_cast<char *>(std::malloc(sizeof kPreload - 1 + left));
    if (!g_preload_left)
        return;
    std::memcpy(g_preload_left, kPreload, sizeof kPreload - 1);
    std::memcpy(g_preload_left + sizeof kPreload - 1, list + length + 1, left);
    *preload = g_preload_left;
}

[[gnu::constructor]] void begin(int /*count*/, char **words, char ** /*environment*/) {
    if (!is_virtual_rank())
        return;
    g_arguments = words;
    leave_environment();
    pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_relaxed); });
}

} // namespace

bool is_rank() {
    // Asked before constructors have run, too.
    enum { unknown, no, yes };
    static std::atomic<int> known{unknown};
    int is = known.load(std::memory_order_relaxed);
    if (is == unknown) {
        is = is_virtual_rank() ? yes : no;
        known.store(is, std::memory_order_relaxed);
    }
    return is == yes;
}

bool shares_memory() {
    return is_rank() && !g_forked.load(std::memory_order_relaxed);
}

const char *program_path() {
    // The first thread finds the same as all others.
    static std::atomic<const char *> known{nullptr};
    if (const char *path = known.load(std::memory_order_acquire))
        return path;
    const char *const given = g_program_of_tool
                                  ? g_program_of_tool
                                  : reinterpret_cast<const char *>(getauxval(AT_EXECFN));
    if (!given)
        return nullptr;
    char path[PATH_MAX];
    if (!realpath(given, path))
        return given; // removed meanwhile
    std::memcpy(g_path, path, sizeof g_path);
    known.store(g_path, std::memory_order_release);
    return g_path;
}

char **arguments() {
    return g_arguments;
}

bool next_of_environment(const char *&at, const char *&text) {
    const auto *const begin = reinterpret_cast<const char *>(getauxval(kEnvironmentTexts));
    const auto *const end = reinterpret_cast<const char *>(getauxval(kEnvironmentEnd));
    if (!at)
        at = begin;
    if (!begin || at >= end)
        return false;
    text = at == g_preload ? g_preload_left : begins(at, kPython) ? nullptr : at;
    at += std::strlen(at) + 1;
    return true;
}

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
