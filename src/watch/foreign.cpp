// SPDX-License-Identifier: Apache-2.0
#include "watch/foreign.h"

#include "sched/worker.h"
#include "watch/blocked.h"
#include "watch/thread_state.h"

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <unistd.h>

namespace sennit::watch {
namespace {

bool is_known(int thread_id) {
    if (thread_id == gettid()) // the ticker, which asks
        return true;
    for (const sched::Worker &worker : sched::Worker::all())
        if (worker.thread_id() == thread_id)
            return true;
    return is_blocked(thread_id);
}

} // namespace

bool Foreign::at_work(std::uint64_t now_ns, std::uint64_t last_ns) {
    DIR *folder = opendir("/proc/self/task");
    if (!folder)
        return false;
    std::uint64_t used = 0;
    bool runs = false;
    bool naps = false;
    int threads = 0;
    while (const dirent *entry = readdir(folder)) {
        if (entry->d_name[0] == '.' || is_known(std::atoi(entry->d_name)))
            continue;
        const int thread_id = std::atoi(entry->d_name);
        const ThreadState state = state_of(thread_id);
        used += state.used;
        runs |= state.runs;
        naps |= sleep_of(thread_id).in == Sleep::In::call;
        ++threads;
    }
    closedir(folder);
    const std::uint64_t more = used > used_ ? used - used_ : 0;
    used_ = used;
    asleep_ = threads;
    naps_ = naps;
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
