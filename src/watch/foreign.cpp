// SPDX-License-Identifier: Apache-2.0
#include "watch/foreign.h"

#include "base/small_file.h"
#include "sched/worker.h"
#include "watch/watch.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <unistd.h>

namespace sennit::watch {
namespace {

bool is_known(int thread_id) {
    if (thread_id == gettid()) // the ticker, which asks
        return true;
    for (int i = 0, n = sched::Worker::count(); i < n; ++i)
        if (const sched::Worker *worker = sched::Worker::by_id(i);
            worker && worker->thread_id() == thread_id)
            return true;
    return is_blocked(thread_id);
}

// Of /proc/self/task/<id>/stat.
struct ThreadState {
    bool runs = false;      // or would, if it were given a processor
    std::uint64_t used = 0; // utime + stime
};

ThreadState state_of(const char *thread_id) {
    ThreadState state;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread_id);
    char text[512];
    if (read_small_file(path, text, sizeof text) == 0)
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

} // namespace

bool Foreign::at_work(std::uint64_t now_ns, std::uint64_t last_ns) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return false;
    std::uint64_t used = 0;
    bool runs = false;
    int threads = 0;
    while (const dirent *entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || is_known(std::atoi(entry->d_name)))
            continue;
        const ThreadState state = state_of(entry->d_name);
        used += state.used;
        runs |= state.runs;
        ++threads;
    }
    closedir(folder);
    const std::uint64_t more = used > used_ ? used - used_ : 0;
    used_ = used;
    asleep_ = threads;
    static const auto ticks_a_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    // A tenth; what wakes now and then to look for something is not at work.
    return runs || more * 1'000'000'000 / ticks_a_second > (now_ns - last_ns) / 10;
}

const char *Foreign::note() {
    note_[0] = '\0';
    if (asleep_ > 0)
        std::snprintf(note_, sizeof note_,
                      "sennit:   (%d other thread%s of the process sleep%s, unknown to Sennit)\n",
                      asleep_, asleep_ == 1 ? "" : "s", asleep_ == 1 ? "s" : "");
    return note_;
}

} // namespace sennit::watch
