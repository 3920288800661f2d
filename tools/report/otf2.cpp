// SPDX-License-Identifier: Apache-2.0
// sennit-otf2 TRACE ARCHIVE: writes a trace as an OTF2 archive (Open Trace Format 2, score-p.org),
// which Vampir and others read. `sennit report --otf2` becomes this program. It is apart because it
// needs libotf2, which may be missing.
//
// A location group a rank, in it a location a worker, with the tasks and the program, and locations
// "MPI 0", "MPI 1", ... with the operations of MPI. An operation is a region from its begin until
// it is complete. Those that overlap are on different locations, for in OTF2 the regions of a
// location are nested, and a task that waits for a message is suspended. A location is two files,
// so a rank has 64 of these at most. Messages are between ranks of one communicator, which has all.
//
// A curve is a metric. What a worker counts is on its location, as sums since the start; the others
// are on a location "counts" of the rank.
#include "report.h"
#include "trace/replay.h"

#include "base/printable.h"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>
#include <sys/stat.h>

namespace sennit::report {
namespace {

using namespace trace;

constexpr std::uint64_t kEventChunk = 1 << 20, kDefinitionChunk = 1 << 22; // bytes
constexpr std::uint64_t kTicks = 1'000'000'000;                            // a second
constexpr int kMostLanes = 64; // locations with operations of MPI, of a rank

// Libotf2 tells of an error here before it returns it.
OTF2_ErrorCode note_error(void *place, const char *, std::uint64_t, const char *,
                          OTF2_ErrorCode code, const char *format, va_list words) {
    char text[256];
    std::vsnprintf(text, sizeof text, format, words);
    std::string &error = *static_cast<std::string *>(place);
    if (error.empty())
        error = fmt::format("{} ({})", OTF2_Error_GetDescription(code), text);
    return code;
}

OTF2_FlushType flush(void *, OTF2_FileType, OTF2_LocationRef, void *, bool) {
    return OTF2_FLUSH;
}

// Numbers from 0, in the order in which names are asked for.
class Names {
  public:
    struct Found {
        std::uint32_t number;
        bool is_new;
    };
    Found of(const std::string &name) {
        const auto [at, is_new] =
            numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size()));
        return {at->second, is_new};
    }

  private:
    std::map<std::string, std::uint32_t> numbers_;
};

class Archive {
  public:
    Archive(const Job &job, const std::string &folder) : job_(job) {
        OTF2_Error_RegisterCallback(note_error, &error_);
        archive_ = OTF2_Archive_Open(folder.c_str(), "trace", OTF2_FILEMODE_WRITE, kEventChunk,
                                     kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        if (!archive_)
            return;
        static const OTF2_FlushCallbacks callbacks = {flush, nullptr};
        OTF2_Archive_SetFlushCallbacks(archive_, &callbacks, nullptr);
        OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
    }

    // What went wrong first; empty if nothing did.
    std::string write() {
        if (!archive_)
            return error_;
        OTF2_Archive_OpenEvtFiles(archive_);
        for (std::uint32_t p = 0; p < job_.processes.size(); ++p)
            write_process(p);
        OTF2_Archive_CloseEvtFiles(archive_);
        OTF2_Archive_OpenDefFiles(archive_);
        for (const Location &location : locations_)
            OTF2_Archive_CloseDefWriter(archive_,
                                        OTF2_Archive_GetDefWriter(archive_, location.number));
        OTF2_Archive_CloseDefFiles(archive_);
        write_definitions();
        OTF2_Archive_Close(archive_);
        return error_;
    }

    // Operations that have no length there, for too many were under way at once.
    std::size_t shortened() const { return shortened_; }

  private:
    struct Location {
        std::uint64_t number;
        std::uint32_t process;
        std::string name;
        OTF2_LocationType type;
        std::uint64_t events;
    };
    // A class has one metric.
    struct MetricClass {
        std::string name;
        bool adds_up;
        OTF2_MetricRef number;
    };
    // Recorded on one location for the whole process.
    struct MetricInstance {
        OTF2_MetricRef number, of;
        std::uint64_t location;
        std::uint32_t process;
    };
    // What is written between a location's other events, in order.
    struct Value {
        Ns at;
        OTF2_MetricRef metric;
        std::uint64_t value;
    };
    struct Region {
        std::string name;
        OTF2_RegionRole role;
        OTF2_Paradigm paradigm;
    };

    OTF2_TimeStamp time(Ns at) const {
        return static_cast<OTF2_TimeStamp>(std::max<Ns>(0, at - job_.begin));
    }

    std::uint32_t region(const std::string &name, OTF2_RegionRole role, OTF2_Paradigm paradigm) {
        const Names::Found found = region_names_.of(name);
        if (found.is_new)
            regions_.push_back({printable(name), role, paradigm});
        return found.number;
    }

    // `events`(writer) writes those of the location.
    template <class Events>
    void add_location(std::uint32_t p, const std::string &name, OTF2_LocationType type,
                      const Events &events) {
        Location location{locations_.size(), p, name, type, 0};
        OTF2_EvtWriter *const writer = OTF2_Archive_GetEvtWriter(archive_, location.number);
        events(writer);
        OTF2_EvtWriter_GetNumberOfEvents(writer, &location.events);
        OTF2_Archive_CloseEvtWriter(archive_, writer);
        locations_.push_back(std::move(location));
    }

    void write_process(std::uint32_t p) {
        const Process &process = job_.processes[p];
        firsts_.push_back(locations_.size());
        const std::vector<Curve> curves = curves_of(process);
        for (std::uint32_t t = 0; t < process.threads.size(); ++t)
            if (const ThreadModel &thread = process.threads[t]; thread.row >= 0)
                add_location(p, fmt::format("worker {}", thread.row), OTF2_LOCATION_TYPE_CPU_THREAD,
                             [&](OTF2_EvtWriter *to) {
                                 write_worker(to, process, thread, counted(curves, t));
                             });
        write_calls(p, process);
        if (std::ranges::any_of(curves, [](const Curve &one) { return one.thread == kNone; }))
            add_location(p, "counts", OTF2_LOCATION_TYPE_METRIC, [&](OTF2_EvtWriter *to) {
                for (const Value &value : levels(p, curves))
                    write_value(to, value);
            });
    }

    OTF2_MetricRef metric_class(const Curve &curve) {
        const auto known = std::ranges::find(classes_, curve.name, &MetricClass::name);
        if (known != classes_.end())
            return known->number;
        classes_.push_back({curve.name, curve.adds_up, metrics_});
        return metrics_++;
    }

    static void add_points(std::vector<Value> &values, OTF2_MetricRef metric, const Curve &curve) {
        std::uint64_t sum = 0;
        for (const auto &[at, value] : curve.points) {
            sum = curve.adds_up ? sum + value : value;
            values.push_back({at, metric, sum});
        }
    }

    std::vector<Value> counted(const std::vector<Curve> &curves, std::uint32_t thread) {
        std::vector<Value> values;
        for (const Curve &curve : curves)
            if (curve.thread == thread)
                add_points(values, metric_class(curve), curve);
        std::ranges::stable_sort(values, {}, &Value::at);
        return values;
    }

    // Of the location that is written.
    std::vector<Value> levels(std::uint32_t p, const std::vector<Curve> &curves) {
        std::vector<Value> values;
        for (const Curve &curve : curves)
            if (curve.thread == kNone) {
                const OTF2_MetricRef of = metric_class(curve);
                instances_.push_back({metrics_++, of, locations_.size(), p});
                add_points(values, instances_.back().number, curve);
            }
        std::ranges::stable_sort(values, {}, &Value::at);
        return values;
    }

    void write_value(OTF2_EvtWriter *to, const Value &value) {
        const OTF2_Type type = OTF2_TYPE_UINT64;
        OTF2_MetricValue number;
        number.unsigned_int = value.value;
        OTF2_EvtWriter_Metric(to, nullptr, time(value.at), value.metric, 1, &type, &number);
    }

    void write_calls(std::uint32_t p, const Process &process) {
        std::vector<Window> spans;
        spans.reserve(process.calls.size());
        for (const Call &call : process.calls)
            spans.push_back({call.begin, std::max(call.begin, process.over(call))});
        std::vector<int> lanes = lanes_of(spans);
        const int count = lanes.empty() ? 1 : *std::max_element(lanes.begin(), lanes.end()) + 1;
        if (count > kMostLanes)
            shorten(process, spans, lanes);
        std::vector<std::vector<std::size_t>> calls_of(std::min(count, kMostLanes));
        for (std::size_t c = 0; c < spans.size(); ++c)
            calls_of[lanes[c]].push_back(c);
        if (count > kMostLanes)
            std::stable_sort(
                calls_of.back().begin(), calls_of.back().end(),
                [&](std::size_t a, std::size_t b) { return spans[a].begin < spans[b].begin; });
        for (std::size_t lane = 0; lane < calls_of.size(); ++lane)
            add_location(p, fmt::format("MPI {}", lane), OTF2_LOCATION_TYPE_CPU_THREAD,
                         [&](OTF2_EvtWriter *to) {
                             for (const std::size_t c : calls_of[lane])
                                 write_call(to, process, process.calls[c], spans[c]);
                         });
    }

    // What does not fit into the other lanes is a moment in the last one: that in which it begins,
    // or in which a message is received, which is not before it is sent.
    void shorten(const Process &process, std::vector<Window> &spans, std::vector<int> &lanes) {
        for (std::size_t c = 0; c < spans.size(); ++c) {
            if (lanes[c] < kMostLanes - 1)
                continue;
            const Call &call = process.calls[c];
            const bool receives = call.message != kNone && call.direction != kSend;
            const Ns at = receives ? spans[c].end : spans[c].begin;
            spans[c] = {at, at};
            lanes[c] = kMostLanes - 1;
            ++shortened_;
        }
    }

    // What is counted at the moment of an event came before it.
    void write_worker(OTF2_EvtWriter *to, const Process &process, const ThreadModel &thread,
                      const std::vector<Value> &values) {
        auto next = values.begin();
        const auto write_values = [&](Ns until) {
            for (; next != values.end() && next->at <= until; ++next)
                write_value(to, *next);
        };
        for (const Interval &interval : thread.intervals) {
            if (interval.state == State::outside)
                continue;
            const std::uint32_t number =
                interval.state == State::task
                    ? region(process.name(interval.task), OTF2_REGION_ROLE_TASK,
                             OTF2_PARADIGM_OPENMP)
                    : region("program", OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER);
            write_values(interval.begin);
            OTF2_EvtWriter_Enter(to, nullptr, time(interval.begin), number);
            write_values(interval.end);
            OTF2_EvtWriter_Leave(to, nullptr, time(interval.end), number);
        }
        write_values(kNever);
    }

    void write_call(OTF2_EvtWriter *to, const Process &process, const Call &call,
                    const Window &span) {
        const std::uint32_t number =
            region(process.file.name_of(call.name), OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
        OTF2_EvtWriter_Enter(to, nullptr, time(span.begin), number);
        if (call.message != kNone) {
            const Message &message = job_.messages[call.message];
            const Call &send = job_.processes[message.from].calls[message.send];
            const auto tag = static_cast<std::uint32_t>(std::max(0, send.tag));
            if (call.direction == kSend)
                OTF2_EvtWriter_MpiSend(to, nullptr, time(span.begin), message.to, 0, tag,
                                       send.bytes);
            else
                OTF2_EvtWriter_MpiRecv(to, nullptr, time(span.end), message.from, 0, tag,
                                       send.bytes);
        }
        OTF2_EvtWriter_Leave(to, nullptr, time(span.end), number);
    }

    // The number of a string, which is defined where it is first used.
    OTF2_StringRef text(OTF2_GlobalDefWriter *to, const std::string &words) {
        const Names::Found found = strings_.of(words);
        if (found.is_new)
            OTF2_GlobalDefWriter_WriteString(to, found.number, words.c_str());
        return found.number;
    }

    void write_definitions() {
        OTF2_GlobalDefWriter *const to = OTF2_Archive_GetGlobalDefWriter(archive_);
        if (!to)
            return;
        OTF2_GlobalDefWriter_WriteClockProperties(to, kTicks, 0, time(job_.end) + 1,
                                                  OTF2_UNDEFINED_TIMESTAMP);
        define_ranks(to);
        define_communicator(to);
        const OTF2_StringRef nothing = text(to, "");
        for (std::uint32_t i = 0; i < regions_.size(); ++i) {
            const OTF2_StringRef name = text(to, regions_[i].name);
            OTF2_GlobalDefWriter_WriteRegion(to, i, name, name, nothing, regions_[i].role,
                                             regions_[i].paradigm, OTF2_REGION_FLAG_NONE, nothing,
                                             0, 0);
        }
        define_metrics(to);
        OTF2_Archive_CloseGlobalDefWriter(archive_, to);
    }

    void define_ranks(OTF2_GlobalDefWriter *to) {
        std::map<std::string, OTF2_SystemTreeNodeRef> nodes;
        for (std::uint32_t p = 0; p < job_.processes.size(); ++p) {
            const Process &process = job_.processes[p];
            const std::string host = printable(process.file.header.host);
            const auto [node, is_new] =
                nodes.try_emplace(host, static_cast<OTF2_SystemTreeNodeRef>(nodes.size()));
            if (is_new)
                OTF2_GlobalDefWriter_WriteSystemTreeNode(to, node->second, text(to, host),
                                                         text(to, "node"),
                                                         OTF2_UNDEFINED_SYSTEM_TREE_NODE);
            OTF2_GlobalDefWriter_WriteLocationGroup(
                to, p, text(to, fmt::format("rank {}", process.rank)),
                OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second, OTF2_UNDEFINED_LOCATION_GROUP);
        }
        for (const Location &location : locations_)
            OTF2_GlobalDefWriter_WriteLocation(to, location.number, text(to, location.name),
                                               location.type, location.events, location.process);
    }

    // Readers want them by number. An instance's is greater than that of its class.
    void define_metrics(OTF2_GlobalDefWriter *to) {
        const OTF2_StringRef nothing = text(to, ""), unit = text(to, "#");
        auto instance = instances_.begin();
        const auto define_instances = [&](OTF2_MetricRef below) {
            for (; instance != instances_.end() && instance->number < below; ++instance)
                OTF2_GlobalDefWriter_WriteMetricInstance(
                    to, instance->number, instance->of, instance->location,
                    OTF2_SCOPE_LOCATION_GROUP, instance->process);
        };
        for (OTF2_MetricMemberRef i = 0; i < classes_.size(); ++i) {
            const MetricClass &one = classes_[i];
            define_instances(one.number);
            OTF2_GlobalDefWriter_WriteMetricMember(
                to, i, text(to, one.name), nothing, OTF2_METRIC_TYPE_OTHER,
                one.adds_up ? OTF2_METRIC_ACCUMULATED_START : OTF2_METRIC_ABSOLUTE_NEXT,
                OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, unit);
            OTF2_GlobalDefWriter_WriteMetricClass(to, one.number, 1, &i, OTF2_METRIC_ASYNCHRONOUS,
                                                  OTF2_RECORDER_KIND_CPU);
        }
        define_instances(metrics_);
    }

    // Number 0. Its members are the processes, each by its first location.
    void define_communicator(OTF2_GlobalDefWriter *to) {
        const OTF2_StringRef nothing = text(to, ""), world = text(to, "MPI_COMM_WORLD");
        std::vector<std::uint64_t> members(firsts_.size());
        std::iota(members.begin(), members.end(), 0);
        const auto count = static_cast<std::uint32_t>(members.size());
        OTF2_GlobalDefWriter_WriteGroup(to, 0, nothing, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count,
                                        firsts_.data());
        OTF2_GlobalDefWriter_WriteGroup(to, 1, nothing, OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count,
                                        members.data());
        OTF2_GlobalDefWriter_WriteComm(to, 0, world, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    }

    const Job &job_;
    OTF2_Archive *archive_ = nullptr;
    std::string error_;
    std::size_t shortened_ = 0;
    std::vector<Location> locations_;   // by number
    std::vector<std::uint64_t> firsts_; // by process: its first location
    std::vector<Region> regions_;       // by number
    std::vector<MetricClass> classes_;
    std::vector<MetricInstance> instances_;
    OTF2_MetricRef metrics_ = 0; // numbers of classes and instances, given so far
    Names region_names_, strings_;
};

void convert(const std::string &trace, const std::string &folder) {
    Job job = read_job(trace);
    name_by_source(job);
    constexpr mode_t kAll = 0777; // less what the umask takes
    if (mkdir(folder.c_str(), kAll) != 0)
        throw std::runtime_error(
            errno == EEXIST ? fmt::format("{} is there already: name a folder that is not", folder)
                            : fmt::format("cannot make {}: {}", folder, std::strerror(errno)));
    Archive archive(job, folder);
    if (const std::string error = archive.write(); !error.empty()) {
        std::error_code left;
        std::filesystem::remove_all(folder, left); // it was made above
        throw std::runtime_error(fmt::format("cannot write {}: {}{}", folder, error,
                                             left ? "; what is there is incomplete" : ""));
    }
    fmt::print("wrote {}/trace.otf2\n", printable(folder));
    if (archive.shortened() > 0)
        fmt::print(
            "{} operations of MPI have no length there, in 'MPI {}' of their ranks: more than "
            "{} were under way at once\n",
            archive.shortened(), kMostLanes - 1, kMostLanes);
}

} // namespace
} // namespace sennit::report

int main(int count, char **arguments) {
    constexpr int kRefused = 2;
    if (count != 3) {
        std::fputs("usage: sennit-otf2 TRACE ARCHIVE: see sennit report --otf2\n", stderr);
        return kRefused;
    }
    try {
        sennit::report::convert(arguments[1], arguments[2]);
        return std::fflush(stdout) == 0 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "sennit: %s\n",
                     sennit::printable(error.what(), sennit::Lines::many).c_str());
        return kRefused;
    }
}
