// SPDX-License-Identifier: Apache-2.0
#include "task/statistics.h"

#include "base/config.h"
#include "base/message.h"
#include "fiber/stack.h"
#include "poll/poll.h"
#include "sennit.h"
#include "task/task.h"
#include "trace/trace.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace sennit;

extern "C" {

SENNIT_EXPORT int sennit_get_statistics(struct sennit_statistics *statistics) {
    if (!statistics)
        return SENNIT_ERR_PARAMETER;
    const task::Counters &counters = task::counters();
    *statistics = {};
    for (int i = 0, n = sched::Worker::count(); i < n; ++i)
        if (const sched::Worker *worker = sched::Worker::by_id(i))
            statistics->tasks_created += worker->tasks();
    statistics->tasks_suspended = counters.suspensions.load(std::memory_order_relaxed);
    statistics->suspended_now =
        static_cast<std::uint64_t>(counters.suspended_now.load(std::memory_order_relaxed));
    statistics->suspended_peak =
        static_cast<std::uint64_t>(counters.suspended_peak.load(std::memory_order_relaxed));
    statistics->stacks_live = fiber::live_stacks();
    statistics->polls = poll::runs();
    return SENNIT_SUCCESS;
}

// A span belongs to the task, which may be suspended between begin and end.
static std::uint64_t current_trace_id() {
    const sched::Worker *worker = sched::Worker::self();
    return worker && worker->task ? worker->task->trace_id : 0;
}

SENNIT_EXPORT void sennit_trace_begin(const char *name, int peer, int tag, uint64_t bytes) {
    if (trace::on())
        trace::record(trace::Kind::span_begin, current_trace_id(),
                      static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer)) << 32 |
                          static_cast<std::uint32_t>(tag),
                      bytes, name);
}

SENNIT_EXPORT void sennit_trace_end(void) {
    if (trace::on())
        trace::record(trace::Kind::span_end, current_trace_id());
}

} // extern "C"

namespace sennit::task {
namespace {

pid_t g_owner;

void write_statistics() {
    if (getpid() != g_owner)
        return; // a child of fork() that did not exec
    sennit_statistics now{};
    sennit_get_statistics(&now);
    char path[4096];
    std::snprintf(path, sizeof path, "%s.%ld.json", config().stats, static_cast<long>(g_owner));
    std::FILE *out = std::fopen(path, "we");
    if (!out) {
        warn("SENNIT_STATS: cannot write %s (%s)", path, std::strerror(errno));
        return;
    }
    using Number = unsigned long long;
    std::fprintf(out,
                 "{\"tasks_created\":%llu,\"tasks_suspended\":%llu,\"suspended_now\":%llu,"
                 "\"suspended_peak\":%llu,\"stacks_live\":%llu,\"polls\":%llu}\n",
                 static_cast<Number>(now.tasks_created), static_cast<Number>(now.tasks_suspended),
                 static_cast<Number>(now.suspended_now), static_cast<Number>(now.suspended_peak),
                 static_cast<Number>(now.stacks_live), static_cast<Number>(now.polls));
    std::fclose(out);
}

} // namespace

void statistics_setup() {
    if (config().stats[0] == '\0')
        return;
    g_owner = getpid();
    std::atexit(write_statistics);
}

} // namespace sennit::task
