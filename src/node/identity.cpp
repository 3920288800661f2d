// SPDX-License-Identifier: Apache-2.0
#include "node/identity.h"

#include "base/small_file.h"
#include "base/system_call.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

namespace sennit::node {
namespace {

// A word has the process's number, its program and its start, in this order. Linux gives out no
// number above 2^22. The time is in 1/100 s since the machine has started, and begins anew each 12
// hours.
constexpr int kPidBits = 22;
constexpr int kStartBits = 22;
constexpr int kProgramBits = 64 - kPidBits - kStartBits;
constexpr Identity kStartMask = (Identity{1} << kStartBits) - 1;
constexpr Identity kProgramMask = ((Identity{1} << kProgramBits) - 1) << kStartBits;

// What a file `stat` says after "number (name", null if there is none. The name may have blanks and
// parentheses, so it ends with the last one.
const char *after_name(const char *path, char *text, std::size_t size) {
    return read_small_file(path, text, size) == 0 ? nullptr : std::strrchr(text, ')');
}

// 0: unknown, for there is no /proc, or no such process.
Identity start_of(pid_t pid) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    char text[1024];
    const char *at = after_name(path, text, sizeof text);
    constexpr int start_field = 22;
    for (int field = 2; at && field < start_field; ++field)
        at = std::strchr(at + 1, ' ');
    return at ? std::strtoull(at, nullptr, 10) & kStartMask : 0;
}

// The program that the process runs, in its place of the word: from what the kernel tells a program
// when it starts it, which has addresses that are chosen at random. 0: unknown, for there is no
// /proc, or the process shows it to nobody.
Identity program_of(pid_t pid) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    char bytes[2048];
    std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a
    const std::size_t size = read_small_file(path, bytes, sizeof bytes);
    for (std::size_t i = 0; i < size; ++i)
        hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3U;
    const Identity program = hash >> (64 - kProgramBits);
    return size == 0 ? 0 : std::max(program, Identity{1}) << kStartBits;
}

// One that is unknown may be the other one.
bool may_be_same(Identity one, Identity other) {
    return one == 0 || other == 0 || one == other;
}

// Of its number: the start tells whether it is the one that is meant.
bool has_ended(pid_t pid) {
    const long process = system_call(SYS_pidfd_open, pid, 0, 0, 0, 0, 0);
    if (process < 0)
        return process == -ESRCH; // or what the kernel lacks: the start has to tell
    pollfd ended = {static_cast<int>(process), POLLIN, 0};
    const int result = poll(&ended, 1, 0);
    close(static_cast<int>(process));
    return result > 0;
}

} // namespace

Identity identity_of(pid_t pid) {
    return Identity(pid) << (64 - kPidBits) | program_of(pid) | start_of(pid);
}

Identity own_identity() {
    return identity_of(getpid());
}

std::uint64_t own_image() {
    // Sixteen random bytes that the kernel gives each program.
    std::uint64_t image = 0;
    if (const auto bytes = getauxval(AT_RANDOM); bytes != 0)
        std::memcpy(&image, reinterpret_cast<const void *>(bytes), sizeof image);
    return image;
}

pid_t pid_of(Identity identity) {
    return static_cast<pid_t>(identity >> (64 - kPidBits));
}

bool is_alive(Identity identity) {
    const pid_t pid = pid_of(identity);
    if (pid == 0 || has_ended(pid))
        return false;
    const Identity start = identity & kStartMask;
    const Identity start_now = start_of(pid);
    return may_be_same(start, start_now) && may_be_same(identity & kProgramMask, program_of(pid)) &&
           ((start != 0 && start_now != 0) || kill(pid, 0) == 0 || errno == EPERM);
}

bool is_stopped(Identity identity) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid_of(identity));
    char text[64];
    const char *const at = after_name(path, text, sizeof text);
    return at && (at[2] == 'T' || at[2] == 't') && is_alive(identity);
}

pid_t parent_of(pid_t pid) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    char text[64]; // the name has 16 at most
    const char *const at = after_name(path, text, sizeof text);
    constexpr std::size_t state = 4; // ") S "
    return at && std::strlen(at) > state ? static_cast<pid_t>(std::strtol(at + state, nullptr, 10))
                                         : 0;
}

bool is_asleep(pid_t process, int thread) {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
    char text[64]; // the name has 16 at most
    const char *const at = after_name(path, text, sizeof text);
    // Sleeps, waits for a device, is stopped by a signal or a debugger: proc_pid_stat(5).
    return at && std::strncmp(at, ") ", 2) == 0 && std::strchr("SDTt", at[2]) && at[2] != '\0';
}

} // namespace sennit::node
