// SPDX-License-Identifier: Apache-2.0
#include "trace/chrome.h"

#include "base/message.h"
#include "trace/json_file.h"
#include "trace/symbols.h"
#include "trace/timeline.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace sennit::trace {
namespace {

class Writer {
  public:
    Writer(JsonFile &file, const Report &report, const Timeline &timeline, std::int64_t process)
        : file_(file), report_(report), timeline_(timeline), process_(process) {
        const std::int64_t epoch = kEpochSeconds * 1'000'000'000;
        epoch_seconds_ = report.begin.realtime_ns >= epoch ? kEpochSeconds : 0;
        origin_ns_ = report.begin.realtime_ns - epoch_seconds_ * 1'000'000'000;
        first_lane_ = kFirstLane;
        for (const Slice &slice : timeline.slices)
            if (slice.row < kForeignRow)
                first_lane_ = std::max(first_lane_, slice.row + 1);
    }

    void write() {
        file_.raw("{\"traceEvents\":[\n");
        name_process();
        int named = -1; // slices come row by row
        for (const Slice &slice : timeline_.slices) {
            if (slice.row != named)
                name_row(slice.row, slice.row < kForeignRow ? "worker" : "other thread",
                         slice.row % kForeignRow);
            named = slice.row;
            write_slice(slice);
        }
        for (std::uint32_t lane = 0; lane < timeline_.lanes; ++lane)
            name_row(row_of_lane(lane), "MPI", lane);
        for (const Span &span : timeline_.spans)
            write_span(span);
        char host[256] = "";
        gethostname(host, sizeof host - 1);
        file_
            .raw("\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"generator\":\"sennit\",\"host\":")
            .quoted(host)
            .raw(",")
            .field("os_pid", getpid())
            .raw(",")
            .field("epoch_unix_s", epoch_seconds_)
            .raw(",")
            .field("events_dropped", static_cast<std::int64_t>(report_.dropped))
            .raw("}}\n");
    }

  private:
    void event(const char *phase, std::int64_t row) {
        file_.raw(first_event_ ? "{\"ph\":\"" : ",\n{\"ph\":\"").raw(phase).raw("\",");
        first_event_ = false;
        file_.field("pid", process_).raw(",").field("tid", row);
    }

    void metadata(const char *name, std::int64_t row) {
        event("M", row);
        file_.raw(",\"name\":\"").raw(name).raw("\",\"args\":{");
    }

    void name_process() {
        char name[320];
        if (report_.rank >= 0)
            std::snprintf(name, sizeof name, "rank %d: %s", report_.rank,
                          program_invocation_short_name);
        else
            std::snprintf(name, sizeof name, "%s", program_invocation_short_name);
        metadata("process_name", 0);
        file_.raw("\"name\":").quoted(name).raw("}}");
        metadata("process_sort_index", 0);
        file_.field("sort_index", process_).raw("}}");
    }

    void name_row(std::int64_t row, const char *kind, std::int64_t index) {
        metadata("thread_name", row);
        file_.raw("\"name\":\"").raw(kind).raw(" ").number(index).raw("\"}}");
        metadata("thread_sort_index", row);
        file_.field("sort_index", row).raw("}}");
    }

    void interval(std::int64_t row, std::uint64_t begin, std::uint64_t end) {
        event("X", row);
        file_.raw(",\"ts\":").micros(time(begin));
        file_.raw(",\"dur\":").micros(static_cast<std::int64_t>(end - begin));
    }

    void moment(const char *name, std::uint64_t at) {
        if (at != kNever)
            file_.raw(",\"").raw(name).raw("\":").micros(time(at));
    }

    void write_slice(const Slice &slice) {
        const TaskRow &task = timeline_.tasks[slice.task];
        interval(slice.row, slice.begin, slice.end);
        file_.raw(",\"cat\":\"task\",\"name\":").quoted(symbols_.name_of(task.entry));
        file_.raw(",\"args\":{").field("id", slice.task).raw(",").field("parent", task.parent);
        moment("created", task.created);
        moment("ready", task.ready);
        moment("completed", task.completed);
        file_.raw(",\"suspended\":").micros(static_cast<std::int64_t>(task.suspended)).raw("}}");
    }

    void write_span(const Span &span) {
        interval(row_of_lane(span.lane), span.begin, span.end);
        file_.raw(",\"cat\":\"mpi\",\"name\":").quoted(span.name ? span.name : "");
        file_.raw(",\"args\":{").field("task", span.task);
        file_.raw(",").field("peer", span.peer).raw(",").field("tag", span.tag);
        file_.raw(",").field("bytes", static_cast<std::int64_t>(span.bytes));
        file_.raw(span.open ? ",\"unfinished\":true}}" : "}}");
    }

    std::int64_t row_of_lane(std::uint32_t lane) const { return first_lane_ + std::int64_t{lane}; }
    std::int64_t time(std::uint64_t at) const { return origin_ns_ + static_cast<std::int64_t>(at); }

    JsonFile &file_;
    const Report &report_;
    const Timeline &timeline_;
    Symbols symbols_;
    std::int64_t process_;
    std::int64_t epoch_seconds_;
    std::int64_t origin_ns_;
    int first_lane_;
    bool first_event_ = true;
};

char *path_of(const Report &report) {
    char *path = nullptr;
    const int process = getpid();
    const int rank = report.rank >= 0 ? report.rank : process;
    const int length = report.forked && report.rank >= 0
                           ? asprintf(&path, "%s/rank-%d.%d.json", report.folder, rank, process)
                           : asprintf(&path, "%s/rank-%d.json", report.folder, rank);
    return length < 0 ? nullptr : path;
}

} // namespace

void write_chrome(const Report &report) {
    if (report.forked && !report.logs)
        return; // a child that only came to exec or to help
    const Clock clock(report.begin, report.end);
    const std::uint64_t end = clock.ns(stamp(report.end.ticks, Kind::none));
    char *path = path_of(report);
    Timeline timeline;
    int error = ENOMEM;
    if (path && build_timeline(timeline, report.logs, clock, end, report.cut)) {
        JsonFile file(path);
        Writer(file, report, timeline, report.rank >= 0 ? report.rank : getpid()).write();
        // A helper that a rank starts has the rank's environment: if it recorded nothing it must
        // not take the place of the rank's file.
        error = file.finish(report.logs != nullptr) ? 0 : errno;
    }
    if (error)
        warn("SENNIT_TRACE: cannot write '%s' (%s): this process leaves no timeline",
             path ? path : report.folder, std::strerror(error));
    else if (report.dropped)
        warn("SENNIT_TRACE: %llu events were dropped: the buffers of %zu MiB are full and the "
             "timeline '%s' ends early; trace a shorter run",
             static_cast<unsigned long long>(report.dropped), report.memory >> 20, path);
    std::free(path);
}

} // namespace sennit::trace
