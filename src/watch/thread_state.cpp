// SPDX-License-Identifier: Apache-2.0
#include "watch/thread_state.h"

#include "base/small_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace sennit::watch {
namespace {

using Path = char[64];

const char *file_of(Path &path, int thread_id, const char *name) {
    std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread_id, name);
    return path;
}

bool has_no_limit(long number, const unsigned long long (&arguments)[6]) {
    switch (number) {
#if defined(SYS_poll)
    case SYS_poll:
        return static_cast<int>(arguments[2]) < 0;
    case SYS_select:
        return arguments[4] == 0;
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return static_cast<int>(arguments[3]) < 0;
    case SYS_ppoll:
        return arguments[2] == 0;
    case SYS_pselect6:
        return arguments[4] == 0;
#if defined(SYS_epoll_pwait2)
    case SYS_epoll_pwait2:
        return arguments[3] == 0;
#endif
    default:
        return false;
    }
}

bool is_futex_wait(unsigned long long operation) {
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

} // namespace

ThreadState state_of(int thread_id) {
    ThreadState state;
    Path path;
    char text[512];
    if (read_small_file(file_of(path, thread_id, "stat"), text, sizeof text) == 0)
        return state;
    // "id (name) state ...": the name may hold anything; utime and stime are fields 14 and 15.
    const char *at = std::strrchr(text, ')');
    state.runs = at && std::strncmp(at, ") R", 3) == 0;
    for (int field = 2; at && field < 14; ++field)
        if ((at = std::strchr(at, ' ')))
            ++at;
    if (!at)
        return state;
    char *next = nullptr;
    const std::uint64_t user = std::strtoull(at, &next, 10);
    state.used = user + std::strtoull(next, nullptr, 10);
    return state;
}

std::uint64_t used_by(int thread_id) {
    constexpr unsigned kOfThread = 4; // as pthread_getcpuclockid makes it, which wants a pthread_t
    constexpr unsigned kOnProcessor = 2;
    const auto clock =
        static_cast<clockid_t>(~static_cast<unsigned>(thread_id) << 3 | kOfThread | kOnProcessor);
    timespec time{};
    if (clock_gettime(clock, &time) != 0)
        clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

Sleep sleep_of(int thread_id) {
    Sleep sleep;
    Path path;
    char text[256];
    if (read_small_file(file_of(path, thread_id, "syscall"), text, sizeof text) == 0)
        return sleep;
    // "number argument... stack instruction", or "-1 stack instruction", or "running".
    char *at = nullptr;
    const long number = std::strtol(text, &at, 10);
    if (at == text || number < 0)
        return sleep;
    unsigned long long arguments[6];
    for (unsigned long long &argument : arguments)
        argument = std::strtoull(at, &at, 16);
    sleep.stack = reinterpret_cast<const void *>(std::strtoull(at, &at, 16));
    // The time limit is the fourth argument of all that sleep.
    if (number == SYS_futex && is_futex_wait(arguments[1]) && arguments[3] == 0) {
        sleep.in = Sleep::In::futex;
        sleep.futex = reinterpret_cast<const void *>(arguments[0]);
        sleep.expected = arguments[2];
    } else {
        sleep.in = has_no_limit(number, arguments) ? Sleep::In::events : Sleep::In::call;
    }
    return sleep;
}

std::uint64_t sleeps_of(int thread_id) {
    Path path;
    char text[4096];
    if (read_small_file(file_of(path, thread_id, "status"), text, sizeof text) == 0)
        return 0;
    constexpr const char *kName = "\nvoluntary_ctxt_switches:";
    const char *const found = std::strstr(text, kName);
    return found ? std::strtoull(found + std::strlen(kName), nullptr, 10) : 0;
}

bool is_thread(int thread_id) {
    Path path;
    return thread_id > 0 && access(file_of(path, thread_id, "stat"), F_OK) == 0;
}

} // namespace sennit::watch
