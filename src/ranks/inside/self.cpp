// SPDX-License-Identifier: Apache-2.0
#include "ranks/inside/self.h"

#include "base/virtual_rank.h"
#include "ranks/loader/first_stack.h"

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
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

} // namespace sennit::loader::inside
