// SPDX-License-Identifier: Apache-2.0
#include "node/identity.h"

#include "base/environment.h"
#include "base/rank.h"
#include "base/small_file.h"
#include "base/system_call.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

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

namespace {

// Does the process have the variable in its environment? -1: it does not show that.
int has_variable(pid_t process, const char *name) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/environ", process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    // Each variable ends with a zero; `matched` of its characters are those of "name=".
    const std::size_t length = std::strlen(name);
    std::size_t matched = 0;
    bool differs = false;
    bool found = false;
    char text[4096];
    ssize_t got = 0;
    while (!found && (got = read(file, text, sizeof text)) > 0)
        for (const char *at = text; at < text + got && !found; ++at) {
            if (*at == '\0') {
                matched = 0;
                differs = false;
            } else if (!differs) {
                found = matched == length && *at == '=';
                differs = matched >= length || *at != name[matched];
                ++matched;
            }
        }
    close(file);
    return got < 0 ? -1 : found;
}

} // namespace

pid_t launcher_above(const char *variable) {
    pid_t process = getppid();
    while (variable && process > 1 && has_variable(process, variable) == 1)
        process = parent_of(process);
    return process > 1 ? process : 0;
}

pid_t launcher() {
    return launcher_above(is_virtual_rank() ? nullptr : local_rank_variable());
}

bool is_asleep(pid_t process, int thread) {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
    char text[64]; // the name has 16 at most
    const char *const at = after_name(path, text, sizeof text);
    // Sleeps, waits for a device, is stopped by a signal or a debugger: proc_pid_stat(5).
    return at && std::strncmp(at, ") ", 2) == 0 && std::strchr("SDTt", at[2]) && at[2] != '\0';
}

namespace {

constexpr long long kNone = std::numeric_limits<long long>::max();

// Where the groups are, and which are ours: cgroups(7). Of a machine that is described by files
// (SENNIT_SYSTEM_FILES, base/options.def), what it says itself.
struct Files {
    char root[512] = "/sys/fs/cgroup";
    char own[512] = "/proc/self/cgroup";
    Files() {
        const char *const given = given_system_files();
        if (!given)
            return;
        std::snprintf(root, sizeof root, "%s/cgroup", given);
        std::snprintf(own, sizeof own, "%s/cgroup/self", given);
    }
};

// `time` in each `period`, in processors; nothing if one of them is none.
long long processors(long long time, long long period) {
    return time > 0 && period > 0 ? (time - 1) / period + 1 : kNone;
}

long long read_number(const char *folder, const char *name) {
    char path[1200];
    char text[64];
    std::snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_small_file(path, text, sizeof text) == 0 ? -1 : std::atoll(text);
}

// Of one group, of either version.
long long limit_of(const char *folder) {
    char path[1200];
    char text[64];
    std::snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_small_file(path, text, sizeof text) == 0)
        return processors(read_number(folder, "cpu.cfs_quota_us"),
                          read_number(folder, "cpu.cfs_period_us"));
    long long time = 0;
    long long period = 0;
    return std::sscanf(text, "%lld %lld", &time, &period) == 2 ? processors(time, period) : kNone;
}

// Of the group and all around it, up to the root of what is mounted here.
long long least_limit(const char *mounted, char *group) {
    long long least = kNone;
    for (;;) {
        char folder[1100];
        std::snprintf(folder, sizeof folder, "%s%s", mounted, group);
        least = std::min(least, limit_of(folder));
        char *const last = std::strrchr(group, '/');
        if (!last)
            return least;
        *last = '\0';
    }
}

bool has_word(const char *list, const char *word) {
    const std::size_t length = std::strlen(word);
    for (const char *at = list; at; at = std::strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (std::strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

} // namespace

int quota() {
    const Files files;
    char text[4096];
    if (read_small_file(files.own, text, sizeof text) == 0)
        return 0;
    long long least = kNone;
    char *rest = nullptr;
    // number:controllers:group. Of version 2 the number is 0, and it names no controllers.
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(nullptr, "\n", &rest)) {
        char *const controllers = std::strchr(line, ':');
        char *const group = controllers ? std::strchr(controllers + 1, ':') : nullptr;
        if (!group)
            continue;
        *group = '\0';
        const bool is_second = controllers[1] == '\0';
        if (!is_second && !has_word(controllers + 1, "cpu"))
            continue;
        char mounted[1024];
        std::snprintf(mounted, sizeof mounted, is_second ? "%s" : "%s/%s", files.root,
                      controllers + 1);
        least = std::min(least, least_limit(mounted, group + 1));
    }
    return least == kNone ? 0 : static_cast<int>(std::min(least, 1'000'000LL));
}

namespace {

constexpr int kMostNodes = 1024;

void note_domains(CoreTable &table) {
    const char *const given = given_system_files();
    const char *const system = given ? given : kSystemFiles;
    char path[512];
    char nodes[4096]; // the system's lists are a page at most
    char cores[4096];
    std::snprintf(path, sizeof path, "%s/node/online", system);
    if (read_small_file(path, nodes, sizeof nodes) == 0)
        return;
    each_of_list(nodes, kMostNodes, [&](int node) {
        std::snprintf(path, sizeof path, "%s/node/node%d/cpulist", system, node);
        if (read_small_file(path, cores, sizeof cores) != 0)
            each_of_list(cores, kMostCores, [&](int core) { table.set_domain(core, node); });
    });
}

} // namespace

void widen(CoreTable &table, const Cores &cores) {
    if (cores.end() > table.end())
        note_domains(table);
    table.widen(cores);
}

} // namespace sennit::node
