// SPDX-License-Identifier: Apache-2.0
// Chrome's trace format, which Perfetto reads: a process a rank, a row a worker, rows below for
// calls of tasks that overlap; messages are flows. What is counted has a curve of its own.
#include "report.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace sennit::report {

using namespace trace;

namespace {

// In JSON, without the quotes around it. A program's name may be in any encoding.
std::string escaped(const std::string &text) {
    const std::string quoted =
        nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return quoted.substr(1, quoted.size() - 2);
}

class Writer {
  public:
    Writer(const Job &job, Output &out) : job_(job), out_(out) {}

    void write() {
        out_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        for (std::uint32_t p = 0; p < job_.processes.size(); ++p)
            write_process(p);
        write_cores();
        out_.write("\n]}\n");
    }

  private:
    static constexpr int kFirstLane = 1000;
    static constexpr int kCores = 1'000'000; // no rank's number
    static constexpr int kCoresOfNode = 10'000;

    void event(const std::string &text) {
        out_.write((first_ ? "{" : ",\n{") + text + "}");
        first_ = false;
    }
    double micros(Ns at) const { return static_cast<double>(at - job_.begin) / 1e3; }

    void name(int process, int row, const std::string &what, const std::string &text) {
        event(fmt::format(R"("ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":"{}"}})",
                          process, row, what, escaped(text)));
        if (what == "thread_name")
            event(fmt::format(
                R"("ph":"M","pid":{0},"tid":{1},"name":"thread_sort_index","args":{{"sort_index":{1}}})",
                process, row));
    }

    void write_process(std::uint32_t p) {
        const Process &process = job_.processes[p];
        name(process.rank, 0, "process_name",
             fmt::format("rank {}: {}", process.rank, process.file.header.program));
        for (const ThreadModel &thread : process.threads) {
            if (thread.row < 0)
                continue;
            name(process.rank, thread.row, "thread_name", fmt::format("worker {}", thread.row));
            for (const Interval &interval : thread.intervals)
                if (interval.state == State::task)
                    write_task(process, thread, interval);
        }
        std::vector<Window> spans;
        spans.reserve(process.calls.size());
        for (const Call &call : process.calls)
            spans.push_back({call.begin, call.end});
        const std::vector<int> lanes = lanes_of(spans);
        std::set<int> named;
        for (std::size_t c = 0; c < lanes.size(); ++c) {
            if (named.insert(lanes[c]).second)
                name(process.rank, kFirstLane + lanes[c], "thread_name",
                     fmt::format("MPI {}", lanes[c]));
            write_call(process, process.calls[c], kFirstLane + lanes[c]);
        }
        for (const Curve &curve : curves_of(process))
            write_curve(process, curve);
    }

    // A curve holds each value until the next one. What a thread counts is drawn as a rate: how
    // much a microsecond, in the time that it was counted in.
    void write_curve(const Process &process, const Curve &curve) {
        const bool is_rate = curve.thread != kNone;
        std::string label = escaped(curve.name);
        if (is_rate)
            label = fmt::format("worker {}: {}/us", process.threads[curve.thread].row, label);
        std::optional<double> held;
        const auto hold = [&](Ns at, double value) {
            if (held != value)
                write_value(process, label, at, value);
            held = value;
        };
        Ns since = is_rate ? process.threads[curve.thread].begin : 0;
        std::uint64_t sum = 0;
        for (const auto &[at, value] : curve.points) {
            sum = curve.adds_up ? sum + value : value;
            const double length = std::max<double>(1, static_cast<double>(at - since)) / 1e3;
            if (is_rate)
                hold(since, static_cast<double>(value) / length);
            else
                hold(at, static_cast<double>(sum));
            since = at;
        }
        if (is_rate)
            hold(since, 0);
    }

    void write_value(const Process &process, const std::string &label, Ns at, double value) {
        event(fmt::format(R"("ph":"C","pid":{},"ts":{:.3f},"name":"{}","args":{{"value":{:.6g}}})",
                          process.rank, micros(at), label, value));
    }

    // Who uses which core: a process beside the ranks, a row a core of a node.
    void write_cores() {
        const std::vector<std::uint32_t> nodes = nodes_of(job_);
        const bool several = std::any_of(nodes.begin(), nodes.end(), [](auto n) { return n > 0; });
        std::set<int> named;
        for (std::size_t p = 0; p < job_.processes.size(); ++p)
            for (const CoreUse &use : job_.processes[p].cores) {
                if (use.core < 0)
                    continue;
                const Process &process = job_.processes[p];
                const int row = static_cast<int>(nodes[p]) * kCoresOfNode + use.core;
                if (named.empty())
                    name(kCores, 0, "process_name", "cores");
                if (named.insert(row).second)
                    name(kCores, row, "thread_name",
                         fmt::format("core {}", use.core) +
                             (several ? fmt::format(" of node {}", nodes[p]) : ""));
                const bool own = use.step == CoreStep::own;
                event(fmt::format(
                    R"("ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"cat":"core","name":"rank {}{}","args":{{"thread":{},"owner":{},"waited":{:.3f},"recalled":{}}})",
                    kCores, row, micros(use.begin), static_cast<double>(use.end - use.begin) / 1e3,
                    process.rank, own ? "" : ", borrowed", process.threads[use.thread].row,
                    use.owner, static_cast<double>(use.waited) / 1e3,
                    use.end_step == CoreStep::leaves));
            }
    }

    void write_task(const Process &process, const ThreadModel &thread, const Interval &interval) {
        const Task &task = process.tasks[interval.task];
        event(fmt::format(
            R"("ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"cat":"task","name":"{}","args":{{"id":{},"parent":{},"ready":{:.3f},"suspended":{:.3f},"priority":{}}})",
            process.rank, thread.row, micros(interval.begin),
            static_cast<double>(interval.end - interval.begin) / 1e3,
            escaped(process.name(interval.task)), interval.task, task.parent, micros(task.ready),
            static_cast<double>(task.suspended) / 1e3, task.priority));
    }

    void write_call(const Process &process, const Call &call, int row) {
        event(fmt::format(
            R"("ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"cat":"mpi","name":"{}","args":{{"task":{},"peer":{},"tag":{},"bytes":{}{}}})",
            process.rank, row, micros(call.begin), static_cast<double>(call.end - call.begin) / 1e3,
            escaped(process.file.name_of(call.name)), call.task, call.peer, call.tag, call.bytes,
            call.open ? ",\"unfinished\":true" : ""));
        if (call.message == kNone)
            return;
        const bool sends = call.direction == kSend;
        event(fmt::format(
            R"("ph":"{}","pid":{},"tid":{},"ts":{:.3f},"id":{},"cat":"message","name":"message"{})",
            sends ? "s" : "f", process.rank, row,
            micros(sends ? call.begin : std::max(call.begin, call.end - 1)), call.message,
            sends ? "" : ",\"bp\":\"e\""));
    }

    const Job &job_;
    Output &out_;
    bool first_ = true;
};

} // namespace

void write_perfetto(const Job &job, const std::string &path) {
    Output out(path);
    Writer(job, out).write();
    out.finish();
}

} // namespace sennit::report
