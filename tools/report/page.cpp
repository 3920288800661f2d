// SPDX-License-Identifier: Apache-2.0
// The page: that of page/ with the runs' data in it, timelines as base64 of typed arrays. And the
// numbers alone, as JSON for other programs.
#include "report.h"

#include "page_template.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace sennit::report {

using namespace trace;
using nlohmann::json;

namespace {

template <class T>
std::string base64(const std::vector<T> &values) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto *bytes = reinterpret_cast<const unsigned char *>(values.data());
    const std::size_t size = values.size() * sizeof(T);
    std::string text;
    text.reserve((size + 2) / 3 * 4);
    for (std::size_t i = 0; i < size; i += 3) {
        const unsigned a = bytes[i];
        const unsigned b = i + 1 < size ? bytes[i + 1] : 0;
        const unsigned c = i + 2 < size ? bytes[i + 2] : 0;
        text += digits[a >> 2];
        text += digits[(a & 3) << 4 | b >> 4];
        text += i + 1 < size ? digits[(b & 15) << 2 | c >> 6] : '=';
        text += i + 2 < size ? digits[c & 63] : '=';
    }
    return text;
}

// Times on the page: units from the window's begin, so that 32 bits are enough.
class Scale {
  public:
    explicit Scale(const Window &window)
        : begin_(window.begin), unit_(std::max<Ns>(1, window.length() / 4'000'000'000 + 1)) {}
    Ns unit() const { return unit_; }
    std::uint32_t operator()(Ns at) const {
        if (at == kNever)
            return 0xffffffff;
        return static_cast<std::uint32_t>(std::clamp<Ns>((at - begin_) / unit_, 0, 0xfffffffe));
    }
    std::uint32_t length(Ns ns) const {
        return static_cast<std::uint32_t>(std::clamp<Ns>(ns / unit_, 0, 0xfffffffe));
    }

  private:
    Ns begin_, unit_;
};

class Names {
  public:
    std::uint32_t operator()(const std::string &name) {
        const auto [at, fresh] =
            numbers_.try_emplace(name, static_cast<std::uint32_t>(list_.size()));
        if (fresh)
            list_.push_back(name);
        return at->second;
    }
    const std::vector<std::string> &list() const { return list_; }

  private:
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<std::string> list_;
};

using Column = std::vector<std::uint32_t>;

json tasks_of(const Process &process, const Scale &scale, Names &names) {
    Column name, created, ready, started, ended, running, suspended, parent, thread;
    std::vector<std::int32_t> priority;
    std::vector<std::uint8_t> flags;
    for (std::uint32_t t = 0; t < process.tasks.size(); ++t) {
        const Task &task = process.tasks[t];
        name.push_back(names(task.seen() ? process.name(t) : ""));
        created.push_back(scale(task.created));
        ready.push_back(scale(task.ready));
        started.push_back(scale(task.started));
        ended.push_back(scale(task.ended));
        running.push_back(scale.length(task.running));
        suspended.push_back(scale.length(task.suspended));
        parent.push_back(task.parent);
        thread.push_back(task.thread);
        priority.push_back(task.priority);
        flags.push_back(static_cast<std::uint8_t>((task.sends ? 1 : 0) | (task.receives ? 2 : 0)));
    }
    return {{"name", base64(name)},           {"created", base64(created)},
            {"ready", base64(ready)},         {"started", base64(started)},
            {"ended", base64(ended)},         {"running", base64(running)},
            {"suspended", base64(suspended)}, {"parent", base64(parent)},
            {"thread", base64(thread)},       {"priority", base64(priority)},
            {"flags", base64(flags)}};
}

json threads_of(const Process &process, const Window &window, const Scale &scale) {
    json threads = json::array();
    for (const ThreadModel &thread : process.threads) {
        Column begin, end, task;
        for (const Interval &interval : thread.intervals) {
            if (interval.state == State::outside || interval.end <= window.begin ||
                interval.begin >= window.end)
                continue;
            begin.push_back(scale(std::max(interval.begin, window.begin)));
            end.push_back(scale(std::min(interval.end, window.end)));
            task.push_back(interval.state == State::task ? interval.task : 0);
        }
        threads.push_back({{"row", thread.row},
                           {"begin", base64(begin)},
                           {"end", base64(end)},
                           {"task", base64(task)}});
    }
    return threads;
}

json calls_of(const Process &process, const Scale &scale, Names &names) {
    Column begin, end, name, task, thread, tag, message, within;
    std::vector<std::int32_t> peer;
    std::vector<float> bytes;
    std::vector<std::uint8_t> direction;
    for (const Call &call : process.calls) {
        begin.push_back(scale(call.begin));
        end.push_back(scale(process.over(call)));
        name.push_back(names(process.file.name_of(call.name)));
        task.push_back(call.task);
        thread.push_back(call.thread);
        peer.push_back(call.peer);
        tag.push_back(static_cast<std::uint32_t>(call.tag));
        bytes.push_back(static_cast<float>(call.bytes));
        direction.push_back(
            static_cast<std::uint8_t>(call.direction | (call.post ? 4 : 0) | (call.open ? 8 : 0)));
        message.push_back(call.message);
        within.push_back(scale.length(call.ran_within));
    }
    return {
        {"begin", base64(begin)},     {"end", base64(end)},       {"name", base64(name)},
        {"task", base64(task)},       {"thread", base64(thread)}, {"peer", base64(peer)},
        {"tag", base64(tag)},         {"bytes", base64(bytes)},   {"direction", base64(direction)},
        {"message", base64(message)}, {"within", base64(within)}};
}

// Who uses which core, by begin; empty where none was shared.
json cores_of(const Job &job, const Window &window, const Scale &scale) {
    struct Use {
        const CoreUse *use;
        std::uint32_t process;
    };
    std::vector<Use> uses;
    for (std::uint32_t p = 0; p < job.processes.size(); ++p)
        for (const CoreUse &use : job.processes[p].cores)
            if (use.core >= 0 && use.end > window.begin && use.begin < window.end)
                uses.push_back({&use, p});
    std::stable_sort(uses.begin(), uses.end(), [](const Use &one, const Use &other) {
        return one.use->begin < other.use->begin;
    });
    const std::vector<std::uint32_t> nodes = nodes_of(job);
    Column node, core, begin, end, process;
    std::vector<std::uint8_t> lent;
    for (const Use &one : uses) {
        node.push_back(nodes[one.process]);
        core.push_back(static_cast<std::uint32_t>(one.use->core));
        begin.push_back(scale(std::max(one.use->begin, window.begin)));
        end.push_back(scale(std::min(one.use->end, window.end)));
        process.push_back(one.process);
        lent.push_back(one.use->step == CoreStep::own ? 0 : 1);
    }
    return {{"node", base64(node)}, {"core", base64(core)},       {"begin", base64(begin)},
            {"end", base64(end)},   {"process", base64(process)}, {"lent", base64(lent)}};
}

json core_shares_json(const Findings &found) {
    json all = json::array();
    for (const CoreShares &one : found.cores)
        all.push_back({{"own", one.own},
                       {"borrowed", one.borrowed},
                       {"lent", one.lent},
                       {"without", one.without},
                       {"waited", one.waited},
                       {"borrowings", one.borrowings},
                       {"recalls", one.recalls},
                       {"late", one.late}});
    return all;
}

json shares_json(const Shares &shares) {
    return {
        {"task", shares.task}, {"program", shares.program},   {"program_mpi", shares.program_mpi},
        {"idle", shares.idle}, {"overhead", shares.overhead}, {"progress", shares.progress()}};
}

json edges_of(const Process &process) {
    Column predecessor, successor;
    for (const Edge &edge : process.edges) {
        predecessor.push_back(edge.predecessor);
        successor.push_back(edge.successor);
    }
    return {{"from", base64(predecessor)}, {"to", base64(successor)}};
}

json processes_of(const Titled &run, const Scale &scale, Names &names) {
    const Findings &found = run.found;
    json processes = json::array();
    for (std::size_t p = 0; p < run.job.processes.size(); ++p) {
        const Process &process = run.job.processes[p];
        json shares = json::array();
        for (const Shares &share : found.shares[p])
            shares.push_back(shares_json(share));
        json item = {{"rank", process.rank},
                     {"host", process.file.header.host},
                     {"suspended_peak", process.suspended_peak},
                     {"shares", std::move(shares)},
                     {"edges", edges_of(process)}};
        item["tasks"] = tasks_of(process, scale, names);
        item["threads"] = threads_of(process, found.window, scale);
        item["calls"] = calls_of(process, scale, names);
        processes.push_back(std::move(item));
    }
    return processes;
}

json messages_of(const Job &job) {
    Column from, send, to, receive;
    for (const Message &message : job.messages) {
        from.push_back(message.from);
        send.push_back(message.send);
        to.push_back(message.to);
        receive.push_back(message.receive);
    }
    return {{"from", base64(from)},
            {"send", base64(send)},
            {"to", base64(to)},
            {"receive", base64(receive)}};
}

json path_json(const CriticalPath &path) {
    Column process, task;
    for (const PathPiece &piece : path.pieces) {
        process.push_back(piece.process);
        task.push_back(piece.task);
    }
    return {{"length", path.length},
            {"messages", path.messages},
            {"process", base64(process)},
            {"task", base64(task)}};
}

json waits_json(const Findings &found) {
    constexpr std::size_t kMost = 20;
    json waits = json::array();
    for (const Waited &wait : found.waits) {
        if (waits.size() >= kMost)
            break;
        waits.push_back({{"rank", wait.rank},
                         {"call", wait.call},
                         {"task", wait.task},
                         {"peer", wait.peer},
                         {"calls", wait.calls},
                         {"bytes", wait.bytes},
                         {"total", wait.total},
                         {"longest", wait.longest},
                         {"tag", wait.longest_tag}});
    }
    return waits;
}

json kinds_json(const Findings &found) {
    constexpr std::size_t kMost = 40;
    json kinds = json::array();
    for (const TaskKind &kind : found.kinds) {
        if (kinds.size() >= kMost)
            break;
        kinds.push_back({{"name", kind.name},
                         {"count", kind.count},
                         {"running", kind.running},
                         {"sends", kind.sends},
                         {"receives", kind.receives},
                         {"low", kind.lowest_priority},
                         {"high", kind.highest_priority},
                         {"waited", kind.waited_ready},
                         {"overhead", kind.overhead},
                         {"at_once", kind.at_once}});
    }
    return kinds;
}

json counters_json(const Counters &counters) {
    constexpr std::size_t kMost = 40;
    const auto quotient = [](const std::optional<double> &value) {
        return value ? json(*value) : json();
    };
    json rows = json::array();
    for (const Counted &row : counters.rows)
        if (rows.size() < kMost || row.tasks == 0)
            rows.push_back({{"name", row.name},
                            {"tasks", row.tasks},
                            {"values", row.values},
                            {"ipc", quotient(counters.instructions_a_cycle(row))},
                            {"cache_misses", quotient(counters.cache_misses(row))},
                            {"branch_misses", quotient(counters.branch_misses(row))}});
    return {{"names", counters.names}, {"rows", std::move(rows)}};
}

json moved_json(const Findings &found) {
    constexpr std::size_t kMost = 40;
    json moved = json::array();
    for (const MovedKind &kind : found.moved) {
        if (moved.size() >= kMost)
            break;
        moved.push_back({{"call", kind.call},
                         {"place", kind.place},
                         {"how", how_moved(kind)},
                         {"times", kind.times},
                         {"until_wait", kind.until_wait},
                         {"waited", kind.waited},
                         {"hidden", kind.hidden()}});
    }
    return moved;
}

json spread_json(const char *name, const Spread &spread) {
    return {{"name", name},
            {"parts", spread.parts},
            {"lambda", spread.imbalance()},
            {"mean", spread.mean()},
            {"most", spread.most}};
}

json balance_json(const Balance &balance) {
    constexpr std::size_t kMost = 40;
    json levels = {spread_json("nodes", balance.nodes), spread_json("ranks", balance.ranks),
                   spread_json("threads", balance.threads)};
    json regions = json::array();
    for (const RegionKind &kind : balance.regions) {
        if (regions.size() >= kMost)
            break;
        regions.push_back({{"name", kind.name},
                           {"runs", kind.runs},
                           {"workers", kind.workers},
                           {"lambda", kind.imbalance()},
                           {"work", kind.work},
                           {"lost", kind.lost()},
                           {"offered", kind.offers ? json(kind.offered) : json()},
                           {"taken", kind.offers ? json(kind.taken) : json()}});
    }
    return {{"levels", std::move(levels)}, {"regions", std::move(regions)}};
}

json efficiency_json(const Efficiency &one) {
    const Spent &spent = one.spent;
    return {{"name", one.name},
            {"parallel", spent.parallel()},
            {"mpi", spent.mpi_part()},
            {"mpi_load_balance", one.rank_balance},
            {"mpi_communication", one.communication},
            {"openmp", spent.openmp()},
            {"openmp_serial", spent.serial_parts()},
            {"openmp_load_balance", spent.thread_balance()},
            {"openmp_scheduling", spent.overhead()},
            {"spent",
             {{"useful", spent.useful},
              {"mpi", spent.mpi},
              {"serial", spent.serial},
              {"imbalance", spent.imbalance},
              {"scheduling", spent.scheduling}}}};
}

json efficiencies_json(const Efficiencies &all) {
    const auto list = [](const std::vector<Efficiency> &some) {
        constexpr std::size_t kMost = 200;
        json result = json::array();
        for (std::size_t i = 0; i < std::min(some.size(), kMost); ++i)
            result.push_back(efficiency_json(some[i]));
        return result;
    };
    const auto known = [](const std::optional<double> &value) {
        return value ? json(*value) : json();
    };
    json job = efficiency_json(all.job);
    job["mpi_serialization"] = known(all.serialization);
    job["mpi_transfer"] = known(all.transfer);
    return {{"job", std::move(job)},
            {"undivided", all.undivided},
            {"ranks", list(all.ranks)},
            {"phases", list(all.phases)},
            {"regions", list(all.regions)}};
}

json objects_json(const Job &job, const Objects &objects) {
    constexpr std::size_t kMost = 200;
    json calls = json::array();
    for (const BalanceCallRow &call : objects.calls) {
        if (calls.size() >= kMost)
            break;
        calls.push_back({{"set", call.set},
                         {"at", call.at - job.begin},
                         {"strategy", call.strategy},
                         {"lambda", call.imbalance},
                         {"nodes", call.node_imbalance},
                         {"promised", call.promised},
                         {"then", call.then},
                         {"lost", call.lost},
                         {"lost_then", call.lost_then},
                         {"moved", call.moved},
                         {"failed", call.failed},
                         {"declined", call.declined},
                         {"bytes", call.bytes},
                         {"took", call.took}});
    }
    json ranks = json::array();
    for (const ObjectsOfRank &rank : objects.ranks)
        ranks.push_back({{"rank", rank.rank},
                         {"held", rank.held},
                         {"work", rank.work},
                         {"came", rank.came},
                         {"left", rank.left},
                         {"bytes", rank.bytes_left}});
    json list = json::array();
    for (const ObjectSum &one : objects.objects) {
        if (list.size() >= kMost)
            break;
        list.push_back({{"set", one.set},
                        {"object", one.object},
                        {"rank", one.rank},
                        {"moves", one.moves},
                        {"work", one.work},
                        {"bytes", one.bytes}});
    }
    return {{"sets", objects.sets},
            {"calls", std::move(calls)},
            {"ranks", std::move(ranks)},
            {"list", std::move(list)}};
}

// What the tables say.
json numbers_json(const Titled &run) {
    const Job &job = run.job;
    const Findings &found = run.found;
    const Header &header = job.processes.front().file.header;
    return {{"title", run.title},
            {"program", header.program},
            {"policy", header.policy},
            {"length", found.window.length()},
            {"notes", job.notes},
            {"efficiency", efficiencies_json(found.efficiencies)},
            {"hints", hints(found)},
            {"policy_passes", found.policy.passes},
            {"policy_ns", found.policy.spent},
            {"waits", waits_json(found)},
            {"kinds", kinds_json(found)},
            {"counters", counters_json(found.counters)},
            {"moved", moved_json(found)},
            {"balance", balance_json(found.balance)},
            {"objects", objects_json(job, found.objects)},
            {"core_shares", core_shares_json(found)}};
}

json run_json(const Titled &run) {
    const Job &job = run.job;
    const Findings &found = run.found;
    const Scale scale(found.window);
    Names names;
    json result = numbers_json(run);
    result["processes"] = processes_of(run, scale, names);
    result["unit"] = scale.unit();
    result["messages"] = messages_of(job);
    result["path"] = path_json(found.path);
    result["cores"] = cores_of(job, found.window, scale);
    result["names"] = names.list();
    return result;
}

} // namespace

void write_page(const std::vector<Titled> &runs, const std::string &path) {
    json data = {{"runs", json::array()}, {"changes", json::array()}};
    for (const Titled &run : runs)
        data["runs"].push_back(run_json(run));
    for (std::size_t i = 1; i < runs.size(); ++i)
        data["changes"].push_back(changes(runs[0], runs[i]));
    std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
    // Nothing in it may end the script, nor begin a comment or another script in it. Only texts
    // have a '<'.
    for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6)
        text.replace(at, 1, "\\u003c");
    const std::string page(kPageTemplate);
    const std::string mark = "/*DATA*/null";
    const std::size_t at = page.find(mark);
    Output out(path);
    out.write(page.substr(0, at));
    out.write(text);
    out.write(page.substr(at + mark.size()));
    out.finish();
}

void write_numbers(const std::vector<Titled> &runs, const std::string &path) {
    json data = {{"runs", json::array()}};
    for (const Titled &run : runs) {
        json numbers = numbers_json(run);
        json ranks = json::array();
        for (std::size_t p = 0; p < run.job.processes.size(); ++p) {
            json rank = shares_json(run.found.of(p));
            rank["rank"] = run.job.processes[p].rank;
            ranks.push_back(std::move(rank));
        }
        numbers["shares"] = std::move(ranks);
        data["runs"].push_back(std::move(numbers));
    }
    Output out(path);
    out.write(data.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    out.finish();
}

} // namespace sennit::report
