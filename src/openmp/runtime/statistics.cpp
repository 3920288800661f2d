// SPDX-License-Identifier: Apache-2.0
#include "openmp/runtime/library.h"

#include "sennit.h"

#include "base/config.h"
#include "base/message.h"
#include "decide/tasks/profiles.h"
#include "tasks/fiber/stack.h"
#include "tasks/poll/poll.h"
#include "tasks/sched/ordered_queue.h"
#include "tasks/sched/worker.h"
#include "tasks/task/priorities.h"
#include "tasks/task/task.h"
#include "tasks/trace/json_file.h"
#include "tasks/trace/trace.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace sennit::runtime {
namespace {

sennit_statistics read_statistics() {
    sennit_statistics now{};
    const auto read = [](const auto &number) {
        return static_cast<std::uint64_t>(number.load(std::memory_order_relaxed));
    };
    for (const sched::Worker &worker : sched::Worker::all()) {
        now.tasks_created += read(worker.tasks);
        now.tasks_suspended += read(worker.suspended.ever);
        now.suspended_now += read(worker.suspended.now);
        now.suspended_peak += read(worker.suspended.most);
    }
    now.suspended_now += static_cast<std::uint64_t>(sched::roaming_tasks().now());
    now.suspended_peak += static_cast<std::uint64_t>(sched::roaming_tasks().most());
    now.stacks_live = fiber::live_stacks();
    now.polls = poll::runs();
    return now;
}

void write_policy(trace::JsonFile &file) {
    const std::string_view policy = policy_word();
    char word[16];
    std::snprintf(word, sizeof word, "%.*s", static_cast<int>(policy.size()), policy.data());
    file.raw(",\"policy\":").quoted(word);
}

// What sa and fa did, and what fa has learned.
void write_learned(trace::JsonFile &file) {
    const policy::Rules &rules = sched::rules();
    if (!rules.propagates())
        return;
    const task::PolicyCounters counters = task::policy_counters();
    file.raw(",").field("priorities_raised", static_cast<std::int64_t>(counters.raised));
    file.raw(",").field("policy_ns", static_cast<std::int64_t>(counters.ns));
    if (!rules.learns())
        return;
    file.raw(",").field("policy_passes", static_cast<std::int64_t>(counters.passes));
    file.raw(",\"profiles\":[");
    trace::Symbols symbols;
    const char *separator = "";
    task::profiles().each([&](const policy::Profile &profile) {
        using Verdict = policy::Profile::Verdict;
        const Verdict verdict = profile.verdict();
        file.raw(separator).raw("{\"task\":");
        file.quoted(symbols.name_of(reinterpret_cast<std::uintptr_t>(profile.key.entry)));
        file.raw(",").field("dependences", profile.key.dependences).raw(",\"verdict\":");
        file.quoted(verdict == Verdict::sends      ? "sends"
                    : verdict == Verdict::computes ? "computes"
                                                   : "unknown");
        file.raw("}");
        separator = ",";
    });
    file.raw("]");
}

void write_at_exit() {
    const sennit_statistics now = read_statistics();
    const struct {
        const char *name;
        std::uint64_t value;
    } fields[] = {
        {"tasks_created", now.tasks_created},   {"tasks_suspended", now.tasks_suspended},
        {"suspended_peak", now.suspended_peak}, {"suspended_now", now.suspended_now},
        {"stacks_live", now.stacks_live},       {"polls", now.polls},
    };
    char *path = nullptr;
    if (asprintf(&path, "%s.%d.json", g_process.statistics_prefix, static_cast<int>(getpid())) < 0)
        return warn("SENNIT_STATS: no memory to write the statistics");
    trace::JsonFile file(path);
    const char *separator = "{";
    for (const auto &field : fields) {
        file.raw(separator).field(field.name, static_cast<std::int64_t>(field.value));
        separator = ",";
    }
    write_policy(file);
    write_learned(file);
    file.raw("}\n");
    if (!file.finish())
        warn("SENNIT_STATS: cannot write '%s' (%s)", path, std::strerror(errno));
    std::free(path);
}

int row_of_thread() {
    const sched::Worker *worker = sched::Worker::self();
    return worker ? worker->id() : -1;
}

// The calling thread's task on the timeline; 0 when it runs none. Implicit tasks get their id when
// they first need one.
std::uint64_t traced_task() {
    const sched::Worker *worker = sched::Worker::self();
    if (!worker || !worker->task)
        return 0;
    Task &task = *worker->task;
    if (!task.trace_id)
        task.trace_id = trace::next_id();
    return task.trace_id;
}

void record_call(trace::Kind kind, const sennit_trace_call &call) {
    trace::name_literal(call.call);
    trace::record(kind, traced_task(), reinterpret_cast<std::uint64_t>(call.call),
                  trace::pair(call.peer, call.tag), call.bytes, call.group,
                  static_cast<std::uint32_t>(call.direction) |
                      std::uint64_t{static_cast<std::uint32_t>(call.requests)} << 8,
                  call.request);
}

} // namespace

void statistics_setup() {
    trace::set_row_of_thread(row_of_thread);
    if (!*config().stats)
        return;
    g_process.statistics_prefix = trace::absolute_path(config().stats);
    if (g_process.statistics_prefix)
        std::atexit(write_at_exit);
    else
        warn("SENNIT_STATS: no memory to note the path: no statistics are written");
}

} // namespace sennit::runtime

using namespace sennit;

extern "C" {

SENNIT_EXPORT int sennit_get_statistics(struct sennit_statistics *statistics) {
    if (!statistics)
        return SENNIT_ERR_PARAMETER;
    *statistics = runtime::read_statistics();
    return SENNIT_SUCCESS;
}

SENNIT_EXPORT int sennit_trace_on(void) {
    return trace::g_records;
}

SENNIT_EXPORT void sennit_trace_begin(const char *name, int peer, int tag, uint64_t bytes) {
    const sennit_trace_call call{name, 0, peer, tag, 0, bytes, 0, 0};
    sennit_trace_call_begin(&call);
}

SENNIT_EXPORT void sennit_trace_end(void) {
    sennit_trace_call_end(-1, -1, 0);
}

SENNIT_EXPORT void sennit_trace_call_begin(const struct sennit_trace_call *call) {
    if (trace::on())
        runtime::record_call(trace::Kind::span_begin, *call);
}

SENNIT_EXPORT void sennit_trace_call_end(int source, int tag, uint64_t bytes) {
    if (trace::on())
        trace::record(trace::Kind::span_end, runtime::traced_task(), trace::pair(source, tag),
                      bytes);
}

SENNIT_EXPORT void sennit_trace_post(const struct sennit_trace_call *call) {
    if (trace::on())
        runtime::record_call(trace::Kind::post, *call);
}

SENNIT_EXPORT void sennit_trace_waits_for(uint64_t request) {
    if (trace::on())
        trace::record(trace::Kind::waits_for, runtime::traced_task(), request);
}

SENNIT_EXPORT void sennit_trace_completes(uint64_t request, uint64_t event) {
    if (!trace::on())
        return;
    const auto *task = reinterpret_cast<const Task *>(event); // a handle of either door
    if (!task) {
        const sched::Worker *worker = sched::Worker::self();
        task = worker ? worker->task : nullptr;
        if (!task || task->events.load(std::memory_order_relaxed) <= 1) // that of the body
            return;
    }
    if (task->trace_id != 0)
        trace::record(trace::Kind::waits_for, task->trace_id, request);
}

SENNIT_EXPORT void sennit_trace_group(uint64_t group, int size, const int *ranks,
                                      const char *name) {
    if (trace::on())
        trace::name_group(group, size, ranks, name ? name : "");
}

SENNIT_EXPORT void sennit_trace_job(int rank, int ranks) {
    trace::set_rank(rank, ranks);
}

SENNIT_EXPORT void sennit_trace_clock(int64_t offset_ns, int64_t error_ns) {
    trace::set_clock(offset_ns, error_ns);
}

SENNIT_EXPORT void sennit_trace_object(const struct sennit_trace_stay *object) {
    if (trace::on())
        trace::record(trace::Kind::object, object->set, trace::pair(object->call, object->object),
                      trace::pair(object->from, object->to), object->work_ns, object->bytes,
                      std::bit_cast<std::uint64_t>(object->speed));
}

SENNIT_EXPORT void sennit_trace_moved(const struct sennit_trace_moved_call *call) {
    if (!trace::on())
        return;
    const auto place = reinterpret_cast<std::uint64_t>(call->place);
    trace::name_literal(call->call);
    trace::name_entry(place);
    trace::record(trace::Kind::moved, runtime::traced_task(),
                  reinterpret_cast<std::uint64_t>(call->call), place,
                  trace::pair(call->how, call->together), call->until_wait, call->wait);
}

SENNIT_EXPORT uint64_t sennit_trace_time(void) {
    return ticks();
}

SENNIT_EXPORT void sennit_trace_balance(const struct sennit_trace_balancing *call) {
    if (!trace::on())
        return;
    trace::name_literal(call->strategy);
    trace::record(
        trace::Kind::balanced, call->set, trace::pair(call->moved, call->failed), call->bytes,
        trace::pair(trace::half_of(call->imbalance), trace::half_of(call->node_imbalance)),
        trace::pair(trace::half_of(call->promised), call->ranks << 1 | (call->declined ? 1 : 0)),
        call->ns, reinterpret_cast<std::uint64_t>(call->strategy));
}

} // extern "C"
