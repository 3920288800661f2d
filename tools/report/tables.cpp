// SPDX-License-Identifier: Apache-2.0
// The report as text.
#include "report.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace sennit::report {

using namespace trace;

namespace {

constexpr std::size_t kMostRows = 12;

// Columns as wide as they need be; the first is flush left.
class Table {
  public:
    explicit Table(std::vector<std::string> heading) { add(std::move(heading)); }
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    void print(std::FILE *to) const {
        std::vector<std::size_t> widths(rows_[0].size());
        for (const auto &row : rows_)
            for (std::size_t i = 0; i < row.size(); ++i)
                widths[i] = std::max(widths[i], row[i].size());
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            std::string line = " ";
            for (std::size_t i = 0; i < rows_[r].size(); ++i)
                line += i == 0 ? fmt::format(" {:<{}}", rows_[r][i], widths[i])
                               : fmt::format("  {:>{}}", rows_[r][i], widths[i]);
            while (line.ends_with(' '))
                line.pop_back();
            fmt::print(to, "{}\n", line);
        }
        fmt::print(to, "\n");
    }

  private:
    std::vector<std::vector<std::string>> rows_;
};

double percent(Ns part, Ns whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string share(Ns part, Ns whole) {
    return whole > 0 ? fmt::format("{:.1f}%", percent(part, whole)) : "-";
}

std::vector<std::string> shares_row(const std::string &who, const Shares &shares) {
    const Ns total = shares.total();
    return {who,
            duration(total),
            share(shares.task, total),
            share(shares.paper_idle(), total),
            share(shares.paper_overhead(), total),
            share(shares.progress(), total),
            share(shares.program, total),
            share(shares.program_mpi, total)};
}

void print_shares(const Job &job, const Findings &found, bool by_thread, std::FILE *to) {
    fmt::print(to, "Where the threads' time went\n");
    Table table(
        {"", "time", "in-task", "idle", "overhead", "of both: progress", "program", "its MPI"});
    for (std::size_t p = 0; p < job.processes.size(); ++p) {
        const Process &process = job.processes[p];
        const std::vector<Shares> &threads = found.shares[p];
        table.add(shares_row(fmt::format("rank {}", process.rank), found.of(p)));
        for (std::size_t i = 0; by_thread && i < threads.size(); ++i)
            if (threads[i].total() > 0)
                table.add(
                    shares_row(fmt::format("  thread {}", process.threads[i].row), threads[i]));
    }
    if (job.processes.size() > 1)
        table.add(shares_row("all", found.all()));
    table.print(to);
}

std::string factor(double value) {
    return fmt::format("{:.1f}%", 100 * value);
}

void print_efficiencies(const Efficiencies &all, std::FILE *to) {
    if (all.job.spent.total() == 0)
        return;
    fmt::print(to, "Efficiency (parallel: MPI x OpenMP; MPI: load balance x communication; OpenMP: "
                   "serial parts x load balance x scheduling)\n");
    Table table({"", "parallel", "MPI", "load balance", "communication", "OpenMP", "serial parts",
                 "load balance", "scheduling"});
    const auto add = [&](const Efficiency &one, bool divides) {
        const Spent &spent = one.spent;
        table.add({one.name, factor(spent.parallel()), factor(spent.mpi_part()),
                   divides ? factor(one.rank_balance) : "-",
                   divides ? factor(one.communication) : "-", factor(spent.openmp()),
                   factor(spent.serial_parts()), factor(spent.thread_balance()),
                   factor(spent.overhead())});
    };
    const bool several = all.ranks.size() > 1;
    add(all.job, several);
    for (std::size_t i = 0; several && i < all.ranks.size(); ++i)
        add(all.ranks[i], false);
    for (const auto *some : {&all.phases, &all.regions})
        for (std::size_t i = 0; i < std::min(some->size(), kMostRows); ++i)
            add((*some)[i], several && some == &all.phases);
    table.print(to);
    if (!several)
        return;
    if (all.serialization && all.transfer)
        fmt::print(to, "Of communication: serialization {}, transfer {}\n\n",
                   factor(*all.serialization), factor(*all.transfer));
    else
        fmt::print(to, "Communication is not divided into serialization and transfer: {}\n\n",
                   all.undivided);
}

void print_path(const Job &job, const Findings &found, std::FILE *to) {
    const CriticalPath &path = found.path;
    if (path.length == 0)
        return;
    fmt::print(to, "Critical path: {} of work in {} tasks and {} messages, {} of the time\n",
               duration(path.length), path.pieces.size(), path.messages,
               share(path.length, found.window.length()));
    std::map<std::string, std::pair<Ns, std::uint64_t>> names;
    for (const PathPiece &piece : path.pieces) {
        auto &[ran, count] = names[job.processes[piece.process].name(piece.task)];
        ran += piece.ran;
        ++count;
    }
    std::vector<std::pair<std::string, std::pair<Ns, std::uint64_t>>> order(names.begin(),
                                                                            names.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto &a, const auto &b) { return a.second.first > b.second.first; });
    Table table({"tasks on it", "count", "time", "share"});
    for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i)
        table.add({order[i].first, std::to_string(order[i].second.second),
                   duration(order[i].second.first), share(order[i].second.first, path.length)});
    table.print(to);
}

void print_kinds(const std::vector<TaskKind> &kinds, std::FILE *to) {
    if (kinds.empty())
        return;
    fmt::print(to,
               "Tasks (S: they send, R: they receive; overhead: of their time and what starting "
               "them took; at once: run where they were made)\n");
    Table table({"function", "", "count", "in-task", "mean", "overhead", "at once",
                 "ready before start", "priority"});
    for (std::size_t i = 0; i < std::min(kinds.size(), kMostRows); ++i) {
        const TaskKind &kind = kinds[i];
        const auto count = static_cast<Ns>(kind.count);
        table.add({kind.name, std::string(kind.sends ? "S" : "") + (kind.receives ? "R" : ""),
                   std::to_string(kind.count), duration(kind.running),
                   duration(kind.running / count), factor(kind.overhead_part()),
                   share(static_cast<Ns>(kind.at_once), count), duration(kind.waited_ready / count),
                   kind.lowest_priority == kind.highest_priority
                       ? std::to_string(kind.lowest_priority)
                       : fmt::format("{}..{}", kind.lowest_priority, kind.highest_priority)});
    }
    table.print(to);
}

// "12345", "12.3 M": what was counted.
std::string count_text(std::uint64_t count) {
    const double value = static_cast<double>(count);
    if (count < 100'000)
        return std::to_string(count);
    return count < 100'000'000 ? fmt::format("{:.2f} M", value / 1e6)
                               : fmt::format("{:.2f} G", value / 1e9);
}

// Only where something was counted.
void print_counters(const Counters &counters, std::FILE *to) {
    if (counters.rows.empty())
        return;
    fmt::print(to, "Counters (IPC: instructions a cycle; misses: in 1000 instructions)\n");
    const auto any = [&](auto quotient) {
        return std::ranges::any_of(counters.rows, [&](const Counted &row) {
            return (counters.*quotient)(row).has_value();
        });
    };
    std::vector<std::string> columns{"function", "tasks"};
    columns.insert(columns.end(), counters.names.begin(), counters.names.end());
    std::vector<std::optional<double> (Counters::*)(const Counted &) const> quotients;
    for (const auto &[name, quotient] : {std::pair("IPC", &Counters::instructions_a_cycle),
                                         std::pair("cache misses", &Counters::cache_misses),
                                         std::pair("branch misses", &Counters::branch_misses)})
        if (any(quotient)) {
            columns.emplace_back(name);
            quotients.push_back(quotient);
        }
    Table table(columns);
    for (std::size_t i = 0; i < counters.rows.size(); ++i) {
        const Counted &counted = counters.rows[i];
        if (i >= kMostRows && counted.tasks > 0)
            continue;
        std::vector<std::string> row{counted.name,
                                     counted.tasks ? std::to_string(counted.tasks) : "-"};
        for (const std::uint64_t value : counted.values)
            row.push_back(count_text(value));
        for (const auto quotient : quotients) {
            const std::optional<double> value = (counters.*quotient)(counted);
            row.push_back(value ? fmt::format("{:.2f}", *value) : "-");
        }
        table.add(row);
    }
    table.print(to);
}

// Only where ranks shared their cores.
void print_cores(const Job &job, const Findings &found, std::FILE *to) {
    if (found.cores.empty())
        return;
    fmt::print(to, "How cores moved\n");
    Table table({"", "on own cores", "on others'", "its own lent", "without", "waited for one",
                 "borrowed", "recalled", "late"});
    for (std::size_t p = 0; p < job.processes.size(); ++p) {
        const CoreShares &one = found.cores[p];
        table.add({fmt::format("rank {}", job.processes[p].rank), duration(one.own),
                   duration(one.borrowed), duration(one.lent), duration(one.without),
                   duration(one.waited), std::to_string(one.borrowings),
                   std::to_string(one.recalls), std::to_string(one.late)});
    }
    table.print(to);
}

// Lambda of the paper openmp-in-charm, equation 1.
void print_balance(const Balance &balance, std::FILE *to) {
    if (balance.threads.all == 0)
        return;
    fmt::print(to, "Balance of the work in tasks and in the program (lambda: most / mean - 1)\n");
    Table table({"", "number", "lambda", "mean", "most"});
    const auto row = [&](const char *what, const Spread &spread) {
        table.add({what, std::to_string(spread.parts), fmt::format("{:.1f}%", spread.imbalance()),
                   duration(spread.mean()), duration(spread.most)});
    };
    row("nodes", balance.nodes);
    row("ranks", balance.ranks);
    row("threads", balance.threads);
    table.print(to);
    if (balance.regions.empty())
        return;
    fmt::print(to, "Parallel regions (lost: by so much they would have ended sooner)\n");
    const bool any_offers = std::ranges::any_of(balance.regions, &RegionKind::offers);
    std::vector<std::string> columns{"function", "runs", "threads", "lambda", "work", "lost"};
    if (any_offers)
        columns.insert(columns.end(), {"offered", "taken"});
    Table regions(columns);
    for (std::size_t i = 0; i < std::min(balance.regions.size(), kMostRows); ++i) {
        const RegionKind &kind = balance.regions[i];
        std::vector<std::string> row{kind.name,
                                     std::to_string(kind.runs),
                                     std::to_string(kind.workers),
                                     fmt::format("{:.1f}%", kind.imbalance()),
                                     duration(kind.work),
                                     duration(static_cast<Ns>(kind.lost()))};
        if (any_offers)
            for (const std::uint64_t threads : {kind.offered, kind.taken})
                row.push_back(kind.offers ? std::to_string(threads) : "-");
        regions.add(row);
    }
    regions.print(to);
}

void print_balance_calls(const Job &job, const Objects &objects, std::FILE *to) {
    if (objects.calls.empty())
        return;
    fmt::print(to, "Calls of sennit_balance() (lost: by so much the most loaded rank worked longer "
                   "than the mean)\n");
    Table table({"at", "strategy", "lambda", "of nodes", "promised", "then", "lost", "then",
                 "moved", "data", "took"});
    const auto percents = [](double value) { return fmt::format("{:.1f}%", value); };
    for (std::size_t i = 0; i < std::min(objects.calls.size(), kMostRows); ++i) {
        const BalanceCallRow &call = objects.calls[i];
        const std::string failed = call.failed ? fmt::format(", {} failed", call.failed) : "";
        const std::string set = objects.sets > 1 ? fmt::format(" of set {}", call.set) : "";
        table.add({duration(call.at - job.begin) + set, call.strategy, percents(call.imbalance),
                   percents(call.node_imbalance), percents(call.promised),
                   call.then < 0 ? "-" : percents(call.then), duration(call.lost),
                   call.then < 0 ? "-" : duration(call.lost_then),
                   call.declined ? "declined" : std::to_string(call.moved) + failed,
                   bytes_text(call.bytes), duration(call.took)});
    }
    table.print(to);
    fmt::print(to, "{} calls took {}, {} of the time; {} moves, {}\n\n", objects.calls.size(),
               duration(objects.took), share(objects.took, job.end - job.begin), objects.moved,
               bytes_text(objects.bytes));
}

void print_objects(const Objects &objects, std::FILE *to) {
    if (objects.objects.empty())
        return;
    Ns all = 0;
    for (const ObjectsOfRank &rank : objects.ranks)
        all += rank.work;
    fmt::print(to, "Objects\n");
    Table ranks({"", "objects at the end", "work", "share", "came", "left", "data that left"});
    for (const ObjectsOfRank &rank : objects.ranks)
        ranks.add({fmt::format("rank {}", rank.rank), std::to_string(rank.held),
                   duration(rank.work), share(rank.work, all), std::to_string(rank.came),
                   std::to_string(rank.left), bytes_text(rank.bytes_left)});
    ranks.print(to);
    Table table({"most work", "last on", "work", "share", "moves", "size"});
    for (std::size_t i = 0; i < std::min(objects.objects.size(), kMostRows); ++i) {
        const ObjectSum &one = objects.objects[i];
        const std::string set = objects.sets > 1 ? fmt::format(" of set {}", one.set) : "";
        table.add({fmt::format("object {}{}", one.object, set), fmt::format("rank {}", one.rank),
                   duration(one.work), share(one.work, all), std::to_string(one.moves),
                   bytes_text(one.bytes)});
    }
    table.print(to);
}

// What the policy itself cost, of the threads' time.
void print_policy(const Findings &found, std::FILE *to) {
    const PolicyWork &work = found.policy;
    if (work.passes == 0)
        return;
    fmt::print(to,
               "Policy: all priorities were computed anew {} times, because something was learned; "
               "{}, {:.3f}% of the threads' time\n\n",
               work.passes, duration(work.spent), percent(work.spent, found.all().total()));
}

// Only where the compiler's plug-in has moved some.
void print_moved(const std::vector<MovedKind> &moved, std::FILE *to) {
    if (moved.empty())
        return;
    fmt::print(to, "Calls that the compiler has moved (hidden: of the time from the start to the "
                   "end, what was not waited for)\n");
    Table table({"call", "at", "how", "times", "until the wait", "waited", "hidden"});
    for (std::size_t i = 0; i < std::min(moved.size(), kMostRows); ++i) {
        const MovedKind &kind = moved[i];
        const auto times = static_cast<Ns>(kind.times);
        table.add({kind.call, kind.place, how_moved(kind), std::to_string(kind.times),
                   duration(kind.until_wait / times), duration(kind.waited / times),
                   fmt::format("{:.1f}%", 100 * kind.hidden())});
    }
    table.print(to);
    if (moved.size() > kMostRows)
        fmt::print(to, "and {} more\n\n", moved.size() - kMostRows);
}

void print_waits(const Job &job, const std::vector<Waited> &waits, std::FILE *to) {
    if (waits.empty())
        return;
    fmt::print(to, "Who waited for whom\n");
    Table table(
        {"call", "of", "in", "for", "calls", "waited", "mean", "longest", "its tag", "data"});
    for (std::size_t i = 0; i < std::min(waits.size(), kMostRows); ++i) {
        const Waited &wait = waits[i];
        table.add({wait.call, fmt::format("rank {}", wait.rank),
                   wait.task.empty() ? "no task" : wait.task,
                   wait.peer >= 0 ? fmt::format("rank {}", wait.peer) : "-",
                   std::to_string(wait.calls), duration(wait.total),
                   duration(wait.total / static_cast<Ns>(wait.calls)), duration(wait.longest),
                   wait.longest_tag >= 0 ? std::to_string(wait.longest_tag) : "-",
                   bytes_text(wait.bytes)});
    }
    table.print(to);
    const std::vector<Ns> times = message_times(job);
    if (!times.empty())
        fmt::print(
            to,
            "{} messages: from the send's begin to the receive's end {} (median), {} (9 of 10 "
            "below), {} (longest){}\n\n",
            times.size(), duration(times[times.size() / 2]), duration(times[times.size() * 9 / 10]),
            duration(times.back()),
            job.unmatched > 0 ? fmt::format("; {} have only one end in the trace", job.unmatched)
                              : "");
}

void print_hints(const Findings &found, std::FILE *to) {
    const std::vector<std::string> lines = hints(found);
    if (lines.empty())
        return;
    fmt::print(to, "Hints\n");
    for (const std::string &line : lines)
        fmt::print(to, "  {}\n", line);
    fmt::print(to, "\n");
}

struct Totals {
    Ns length = 0, path = 0, delay = 0;
    Shares shares;
    std::uint64_t sends = 0;
    std::uint32_t peak = 0;
};

Totals totals_of(const Titled &run) {
    Totals totals;
    totals.length = run.found.window.length();
    totals.path = run.found.path.length;
    totals.shares = run.found.all();
    for (const Process &process : run.job.processes) {
        totals.peak = std::max(totals.peak, process.suspended_peak);
        for (const Task &task : process.tasks)
            if (task.ran() && task.sends) {
                totals.delay += task.started - task.ready;
                ++totals.sends;
            }
    }
    return totals;
}

} // namespace

void print_tables(const Titled &run, bool by_thread, std::FILE *to) {
    const Job &job = run.job;
    const Findings &found = run.found;
    std::uint64_t tasks = 0;
    std::uint64_t edges = 0;
    std::uint32_t peak = 0;
    std::string where;
    for (const Process &process : job.processes) {
        tasks += static_cast<std::uint64_t>(std::count_if(
            process.tasks.begin(), process.tasks.end(), [](const Task &t) { return t.ran(); }));
        edges += process.edges.size();
        if (process.suspended_peak > peak || where.empty()) {
            peak = std::max(peak, process.suspended_peak);
            where = fmt::format("rank {}", process.rank);
        }
    }
    const Header &header = job.processes.front().file.header;
    fmt::print(to, "{}: {}, {} rank{}, policy {}\n", run.title, header.program,
               job.processes.size(), job.processes.size() == 1 ? "" : "s", header.policy);
    if (tasks == 0)
        fmt::print(to, "{} traced, without tasks\n\n", duration(found.window.length()));
    else
        fmt::print(to,
                   "{} from the first task to the last; {} tasks, {} dependences; at most {} "
                   "suspended at once ({})\n\n",
                   duration(found.window.length()), tasks, edges, peak, where);
    print_shares(job, found, by_thread, to);
    print_efficiencies(found.efficiencies, to);
    print_balance(found.balance, to);
    print_balance_calls(job, found.objects, to);
    print_objects(found.objects, to);
    print_cores(job, found, to);
    print_policy(found, to);
    print_path(job, found, to);
    print_kinds(found.kinds, to);
    print_counters(found.counters, to);
    print_moved(found.moved, to);
    print_waits(job, found.waits, to);
    print_hints(found, to);
}

std::vector<std::string> changes(const Titled &from, const Titled &to) {
    const Totals before = totals_of(from);
    const Totals after = totals_of(to);
    std::vector<std::string> lines;
    const double change = percent(after.length - before.length, before.length);
    lines.push_back(fmt::format("{} took {}, {} took {}: {:.1f}% {}", to.title,
                                duration(after.length), from.title, duration(before.length),
                                std::abs(change), change < 0 ? "less" : "more"));
    // Only what changed in the digits that are shown.
    const auto add = [&](const std::string &what, const std::string &is, const std::string &was) {
        if (is != was)
            lines.push_back(fmt::format(fmt::runtime(what), is) + ", before " + was);
    };
    const auto parts = [&](const char *name, Ns a, Ns b) {
        add(fmt::format("{}: {{}} of the threads' time", name),
            fmt::format("{:.1f}%", percent(b, after.shares.total())),
            fmt::format("{:.1f}%", percent(a, before.shares.total())));
    };
    if (before.sends > 0 && after.sends > 0)
        add("a task that sends waited {} from when it could start until it started",
            duration(after.delay / static_cast<Ns>(after.sends)),
            duration(before.delay / static_cast<Ns>(before.sends)));
    parts("idle", before.shares.paper_idle(), after.shares.paper_idle());
    parts("in-task", before.shares.task, after.shares.task);
    parts("overhead", before.shares.paper_overhead(), after.shares.paper_overhead());
    if (before.path > 0 && after.path > 0)
        add("the critical path is {} of the time",
            fmt::format("{:.0f}%", percent(after.path, after.length)),
            fmt::format("{:.0f}%", percent(before.path, before.length)));
    add("parallel efficiency {}", factor(to.found.efficiencies.job.spent.parallel()),
        factor(from.found.efficiencies.job.spent.parallel()));
    add("at most {} tasks of a rank were suspended", fmt::format("{}", after.peak),
        fmt::format("{}", before.peak));
    return lines;
}

void print_changes(const std::vector<Titled> &runs, std::FILE *to) {
    for (std::size_t i = 1; i < runs.size(); ++i) {
        fmt::print(to, "What changed from {} to {}\n", runs[0].title, runs[i].title);
        for (const std::string &line : changes(runs[0], runs[i]))
            fmt::print(to, "  {}\n", line);
        fmt::print(to, "\n");
    }
}

} // namespace sennit::report
