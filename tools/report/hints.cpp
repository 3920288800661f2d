// SPDX-License-Identifier: Apache-2.0
// What a trace shows that a person can do something about. Each hint says what share of the
// threads' time it is about; one that is about little is left out.
#include "report.h"

#include "trace/replay.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <system_error>

namespace sennit::report {

using namespace trace;

namespace {

constexpr double kWorthAHint = 0.05; // of the threads' time
constexpr std::size_t kMostHints = 3;
// A maker of tasks looks once in so many of them, at most, whether too many are unfinished.
constexpr std::uint64_t kTasksALook = 16;
// Bytes of traces. 27 MB took 0.6 s and 241 MB of memory: some nine times the files.
constexpr std::uintmax_t kReadAtOnce = 16 << 20;

struct Hint {
    double cost; // a part of the threads' time
    std::string text;
};

std::string percent(double part) {
    return fmt::format("{:.0f}%", 100 * part);
}

class Hints {
  public:
    explicit Hints(const Findings &found)
        : found_(found), spent_(found.efficiencies.job.spent),
          whole_(static_cast<double>(spent_.total())) {}

    std::vector<std::string> find() {
        if (whole_ <= 0)
            return {};
        small_tasks();
        tasks_at_once();
        full_window();
        refused_stacks();
        polling();
        calls_outside_of_tasks();
        uneven_ranks();
        uneven_regions();
        serial_parts();
        std::stable_sort(list_.begin(), list_.end(),
                         [](const Hint &a, const Hint &b) { return a.cost > b.cost; });
        list_.resize(std::min(list_.size(), kMostHints));
        std::vector<std::string> lines;
        lines.reserve(list_.size());
        for (Hint &hint : list_)
            lines.push_back(std::move(hint.text));
        return lines;
    }

  private:
    // A hint that costs this much of the threads' time.
    template <class Text>
    void add(double cost, Text text) {
        if (cost >= kWorthAHint * whole_)
            list_.push_back({cost / whole_, text()});
    }

    // Tasks of which starting them is a third of their time, or more.
    void small_tasks() {
        for (const TaskKind &kind : found_.kinds) {
            if (kind.overhead_part() < 1.0 / 3)
                continue;
            const auto count = static_cast<Ns>(kind.count);
            const double mean = static_cast<double>(kind.running) / static_cast<double>(count);
            const double each = static_cast<double>(kind.overhead) / static_cast<double>(count);
            // So many in one that a tenth is overhead.
            const double together = std::min(std::ceil(9 * each / std::max(1.0, mean)), 1000.0);
            add(static_cast<double>(kind.overhead), [&] {
                const std::string advice =
                    kind.sends || kind.receives
                        ? "send fewer and larger messages"
                        : fmt::format("make each {:.0f} times as large, or use taskloop "
                                      "grainsize(...)",
                                      together);
                return fmt::format("tasks of {} last {}: {} of their time is overhead; {}",
                                   kind.name, duration(kind.running / count),
                                   percent(kind.overhead_part()), advice);
            });
        }
    }

    // The thread that makes tasks has too many, and runs them itself, while others have none.
    void tasks_at_once() {
        const double idle = static_cast<double>(spent_.imbalance);
        for (const TaskKind &kind : found_.kinds)
            if (2 * kind.at_once > kind.count &&
                static_cast<double>(kind.running) >= kWorthAHint * whole_)
                add(idle, [&] {
                    return fmt::format(
                        "{} of the tasks of {} ran at once in the thread that made them, while "
                        "others had no work; raise SENNIT_THROTTLE, or look at if and final",
                        percent(static_cast<double>(kind.at_once) /
                                static_cast<double>(kind.count)),
                        kind.name);
                });
    }

    // The thread that makes tasks runs some in between, and others have none meanwhile.
    void full_window() {
        const Shortages &all = found_.shortages;
        if (all.windows > 0 && 4 * all.windows * kTasksALook >= all.created)
            add(static_cast<double>(spent_.imbalance), [&] {
                return fmt::format("{} times a thread that made tasks let others go first, as too "
                                   "many were unfinished, while threads had no work; raise "
                                   "SENNIT_WINDOW",
                                   all.windows);
            });
    }

    // What it costs is not known: tasks that could go on wait for those on top of them.
    void refused_stacks() {
        const Shortages &all = found_.shortages;
        if (all.refusals > 0)
            add(kWorthAHint * whole_, [&] {
                return fmt::format("{} times there was no memory for another stack of {} (first "
                                   "with {} in use): tasks ran on top of waiting ones; lower "
                                   "OMP_STACKSIZE, or raise 'ulimit -v' or vm.max_map_count",
                                   all.refusals, bytes_text(all.refused_bytes), all.stacks_in_use);
            });
    }

    // While nothing else is there to do, polling costs nothing.
    void polling() {
        const Shortages &all = found_.shortages;
        if (all.polls <= all.completions)
            return;
        const double vain =
            static_cast<double>(all.polls - all.completions) / static_cast<double>(all.polls);
        const double cost = vain * static_cast<double>(found_.all().progress_overhead);
        add(cost, [&] {
            return fmt::format("{} of the threads' time goes to polls that find no message, while "
                               "tasks are ready; raise SENNIT_POLL_US, or have fewer messages "
                               "under way at once",
                               percent(cost / whole_));
        });
    }

    // Only in programs with tasks: in others the thread has nothing else to do.
    void calls_outside_of_tasks() {
        const Waited *most = nullptr;
        Ns all = 0;
        for (const Waited &wait : found_.waits) // longest first
            if (wait.task.empty() && is_mpi_call(wait.call) && !found_.kinds.empty()) {
                most = most ? most : &wait;
                all += wait.total;
            }
        add(static_cast<double>(all), [&] {
            return fmt::format("for {} of the threads' time MPI is called outside of tasks, most "
                               "in {} of rank {} ({}); a task that calls it leaves its thread to "
                               "others",
                               percent(static_cast<double>(all) / whole_), most->call, most->rank,
                               duration(most->total));
        });
    }

    void uneven_ranks() {
        const Efficiency &all = found_.efficiencies.job;
        if (all.rank_balance < 0.9)
            add(whole_ * all.communication * (1 - all.rank_balance), [&] {
                return fmt::format("the most loaded rank works {:.0f}% longer than the mean; move "
                                   "work, or let the ranks share cores (sennit run --pool)",
                                   found_.balance.ranks.imbalance());
            });
    }

    // By what threads lose there: one that waits for messages has less work, too.
    void uneven_regions() {
        for (const Efficiency &region : found_.efficiencies.regions)
            for (const RegionKind &kind : found_.balance.regions)
                if (kind.name == region.name && kind.imbalance() >= 20)
                    add(static_cast<double>(region.spent.imbalance), [&] {
                        return fmt::format("in the parallel region {} the most loaded thread works "
                                           "{:.0f}% longer than the mean; a loop there may need "
                                           "schedule(dynamic)",
                                           kind.name, kind.imbalance());
                    });
    }

    // Where a rank has several threads: one has nobody to leave work to.
    void serial_parts() {
        const std::vector<Efficiency> &ranks = found_.efficiencies.ranks;
        const bool several = std::ranges::any_of(ranks, [&](const Efficiency &rank) {
            return rank.spent.total() > found_.window.length();
        });
        if (several && spent_.serial_parts() < 0.8)
            add(static_cast<double>(spent_.serial), [&] {
                return fmt::format("{} of the threads' time is lost outside of parallel regions, "
                                   "where one thread of a rank works alone",
                                   percent(static_cast<double>(spent_.serial) / whole_));
            });
    }

    const Findings &found_;
    const Spent &spent_;
    const double whole_;
    std::vector<Hint> list_;
};

} // namespace

std::vector<std::string> hints(const Findings &found) {
    return Hints(found).find();
}

bool worth_reading_at_once(const std::string &folder, std::filesystem::file_time_type since) {
    std::uintmax_t bytes = 0;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with("rank-") || !name.ends_with(".sennit"))
            continue;
        const auto written = entry->last_write_time(error);
        if (error || written < since)
            return false;
        bytes += entry->file_size(error);
        if (error)
            return false;
    }
    return !error && bytes > 0 && bytes <= kReadAtOnce;
}

void print_hints_of(const std::string &folder, std::filesystem::file_time_type since) {
    if (!worth_reading_at_once(folder, since))
        return;
    try {
        const Job job = read_job(folder);
        for (const std::string &line : hints(Findings(job)))
            fmt::print(stderr, "sennit: hint: {}\n", line);
    } catch (const std::exception &) {
        return; // the report says what is wrong with the trace
    }
}

} // namespace sennit::report
