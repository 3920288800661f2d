// SPDX-License-Identifier: Apache-2.0
#include "node/quota.h"

#include "base/small_file.h"
#include "base/system_files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace sennit::node {
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

} // namespace sennit::node
