// SPDX-License-Identifier: Apache-2.0
// Paraver's format (tools.bsc.es/doc: "Paraver traceFile description"): states, events and
// communications of application 1, task = rank + 1, thread = worker + 1.
#include "report.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <map>

namespace sennit::report {

using namespace trace;

namespace {

// Of Paraver's default palette.
constexpr int kIdleState = 0, kRunning = 1, kNotCreated = 2, kScheduling = 7, kOthers = 15;
constexpr int kTaskType = 60000001; // an event: the function that runs, 0 none
constexpr int kCallType = 50000001; // the MPI call that a thread is in, outside or inside a task
constexpr int kPriorityType = 60000002;

// Curves have their numbers behind the first one. What is counted has the types that Extrae gives
// to PAPI's counters, so that its configurations work: 42000000 and PAPI's number.
constexpr int kCurveTypes = 60000100, kOtherCounters = 60000300;
constexpr struct {
    const char *name;
    int type;
} kCounterTypes[] = {{"instructions", 42000050},     {"cycles", 42000059},
                     {"cache-misses", 42000008}, // of the third level
                     {"branches", 42000055},         {"branch-misses", 42000046},
                     {"cache-references", 60000201}, {"page-faults", 60000202},
                     {"task-clock", 60000203}};

class Writer {
  public:
    explicit Writer(const Job &job) : job_(job) {
        for (const Process &process : job.processes) {
            std::vector<int> rows;
            for (std::size_t i = 0; i < process.threads.size(); ++i)
                if (process.threads[i].row >= 0)
                    rows.push_back(static_cast<int>(i));
            rows_.push_back(std::move(rows));
        }
        int cpu = 1;
        for (const auto &rows : rows_) {
            first_cpu_.push_back(cpu);
            cpu += static_cast<int>(std::max<std::size_t>(1, rows.size()));
        }
        cpus_ = cpu - 1;
    }

    void write_prv(const std::string &path) {
        Output out(path);
        const std::time_t now = std::time(nullptr);
        std::tm date{};
        localtime_r(&now, &date);
        char text[64];
        std::strftime(text, sizeof text, "%d/%m/%Y at %H:%M", &date);
        std::string header = fmt::format("#Paraver ({}):{}_ns:1({}):1:{}(", text,
                                         job_.end - job_.begin, cpus_, job_.processes.size());
        for (std::size_t p = 0; p < rows_.size(); ++p)
            header +=
                fmt::format("{}{}:1", p ? "," : "", std::max<std::size_t>(1, rows_[p].size()));
        out.write(header + ")\n");
        collect();
        std::stable_sort(records_.begin(), records_.end(),
                         [](const auto &a, const auto &b) { return a.first < b.first; });
        for (const auto &[at, line] : records_)
            out.write(line);
        out.finish();
    }

    void write_pcf(const std::string &path) const {
        Output out(path);
        out.write("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
                  "LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
                  "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n"
                  "DEFAULT_SEMANTIC\n\nTHREAD_FUNC         State As Is\n\n"
                  "STATES\n0    Idle\n1    Running a task\n2    Not created\n7    In the runtime\n"
                  "15   Program outside of tasks\n\n");
        write_type(out, kTaskType, "Task", functions_);
        write_type(out, kCallType, "MPI call", calls_);
        out.write(fmt::format("EVENT_TYPE\n0    {}    Priority of the task\n\n", kPriorityType));
        for (const auto &[name, type] : curve_types_)
            out.write(fmt::format("EVENT_TYPE\n0    {}    {}\n\n", type, name));
        out.finish();
    }

    void write_row(const std::string &path) const {
        Output out(path);
        out.write(fmt::format("LEVEL CPU SIZE {}\n", cpus_));
        for (int i = 1; i <= cpus_; ++i)
            out.write(fmt::format("CPU {}\n", i));
        out.write(fmt::format("\nLEVEL NODE SIZE 1\n{}\n\nLEVEL THREAD SIZE {}\n",
                              job_.processes.front().file.header.host, cpus_));
        for (std::size_t p = 0; p < rows_.size(); ++p)
            for (std::size_t t = 0; t < std::max<std::size_t>(1, rows_[p].size()); ++t)
                out.write(fmt::format("rank {} thread {}\n", job_.processes[p].rank, t));
        out.finish();
    }

  private:
    static void write_type(Output &out, int type, const char *label,
                           const std::map<std::string, int> &values) {
        out.write(fmt::format("EVENT_TYPE\n0    {}    {}\nVALUES\n0    End\n", type, label));
        std::map<int, std::string> ordered;
        for (const auto &[name, value] : values)
            ordered[value] = name;
        for (const auto &[value, name] : ordered)
            out.write(fmt::format("{}    {}\n", value, name));
        out.write("\n");
    }

    static int number_of(std::map<std::string, int> &values, const std::string &name) {
        return values.try_emplace(name, static_cast<int>(values.size()) + 1).first->second;
    }

    // cpu:application:task:thread
    std::string object(std::size_t p, std::size_t t) const {
        return fmt::format("{}:1:{}:{}", first_cpu_[p] + static_cast<int>(t), p + 1, t + 1);
    }
    std::size_t thread_of(std::size_t p, std::uint32_t index) const {
        const auto found = std::find(rows_[p].begin(), rows_[p].end(), static_cast<int>(index));
        return found == rows_[p].end() ? 0 : static_cast<std::size_t>(found - rows_[p].begin());
    }
    Ns time(Ns at) const { return std::max<Ns>(0, at - job_.begin); }

    void collect() {
        for (std::size_t p = 0; p < job_.processes.size(); ++p) {
            const Process &process = job_.processes[p];
            for (std::size_t t = 0; t < rows_[p].size(); ++t)
                collect_thread(process, p, t);
            for (const Call &call : process.calls) {
                const std::string who = object(p, thread_of(p, call.thread));
                const int name = number_of(calls_, process.file.name_of(call.name));
                records_.emplace_back(call.begin, fmt::format("2:{}:{}:{}:{}\n", who,
                                                              time(call.begin), kCallType, name));
                if (!call.post)
                    records_.emplace_back(
                        call.end, fmt::format("2:{}:{}:{}:0\n", who, time(call.end), kCallType));
            }
            for (const Curve &curve : curves_of(process))
                collect_curve(p, curve);
        }
        for (const Message &message : job_.messages) {
            const Process &from = job_.processes[message.from];
            const Process &to = job_.processes[message.to];
            const Call &send = from.calls[message.send];
            const Call &receive = to.calls[message.receive];
            const Ns received = std::max(to.over(receive), send.begin);
            records_.emplace_back(
                send.begin, fmt::format("3:{}:{}:{}:{}:{}:{}:{}:{}\n",
                                        object(message.from, thread_of(message.from, send.thread)),
                                        time(send.begin), time(send.begin),
                                        object(message.to, thread_of(message.to, receive.thread)),
                                        time(receive.begin), time(received), send.bytes,
                                        std::max(0, send.tag)));
        }
    }

    void collect_thread(const Process &process, std::size_t p, std::size_t t) {
        const ThreadModel &thread = process.threads[static_cast<std::size_t>(rows_[p][t])];
        const std::string who = object(p, t);
        const auto state = [&](Ns begin, Ns end, int value) {
            if (end > begin)
                records_.emplace_back(
                    begin, fmt::format("1:{}:{}:{}:{}\n", who, time(begin), time(end), value));
        };
        if (!thread.intervals.empty())
            state(job_.begin, thread.intervals.front().begin, kNotCreated);
        for (const Interval &interval : thread.intervals) {
            if (interval.state == State::task) {
                const Task &task = process.tasks[interval.task];
                const int name = number_of(functions_, process.name(interval.task));
                records_.emplace_back(
                    interval.begin, fmt::format("2:{}:{}:{}:{}:{}:{}\n", who, time(interval.begin),
                                                kTaskType, name, kPriorityType, task.priority));
                state(interval.begin, interval.end, kRunning);
                records_.emplace_back(interval.end,
                                      fmt::format("2:{}:{}:{}:0:{}:0\n", who, time(interval.end),
                                                  kTaskType, kPriorityType));
            } else if (interval.state == State::program) {
                state(interval.begin, interval.end, kOthers);
            } else {
                const auto idle =
                    std::lower_bound(thread.idle.begin(), thread.idle.end(), interval.begin);
                const Ns since =
                    idle != thread.idle.end() && *idle < interval.end ? *idle : interval.end;
                state(interval.begin, since, kScheduling);
                state(since, interval.end, kIdleState);
            }
        }
    }

    // As Extrae has counters: what came since the one before. Those of the rank are its first
    // thread's.
    void collect_curve(std::size_t p, const Curve &curve) {
        const std::string who = object(p, curve.thread == kNone ? 0 : thread_of(p, curve.thread));
        const int type = type_of(curve);
        for (const auto &[at, value] : curve.points)
            records_.emplace_back(at, fmt::format("2:{}:{}:{}:{}\n", who, time(at), type, value));
    }

    int type_of(const Curve &curve) {
        const auto *const known = std::ranges::find_if(
            kCounterTypes, [&](const auto &one) { return curve.name == one.name; });
        const int type = curve.number > 0 ? kCurveTypes + curve.number
                         : known != std::end(kCounterTypes)
                             ? known->type
                             : kOtherCounters + number_of(counters_, curve.name);
        return curve_types_.try_emplace(curve.name, type).first->second;
    }

    const Job &job_;
    std::vector<std::vector<int>> rows_; // by process: indices of its workers' threads
    std::vector<int> first_cpu_;
    int cpus_ = 0;
    std::vector<std::pair<Ns, std::string>> records_;
    std::map<std::string, int> functions_, calls_, counters_, curve_types_;
};

} // namespace

void write_paraver(const Job &job, const std::string &prefix) {
    Writer writer(job);
    writer.write_prv(prefix + ".prv");
    writer.write_pcf(prefix + ".pcf");
    writer.write_row(prefix + ".row");
}

} // namespace sennit::report
