// SPDX-License-Identifier: Apache-2.0
// How evenly work was spread over nodes, ranks, threads, and the workers of each parallel region.
#include "analysis.h"

#include <algorithm>
#include <map>

namespace sennit::report {

using namespace trace;

double Spread::imbalance() const {
    return all > 0 ? 100 * (static_cast<double>(most) * static_cast<double>(parts) /
                                static_cast<double>(all) -
                            1)
                   : 0;
}

namespace {

void add(Spread &spread, Ns work) {
    ++spread.parts;
    spread.most = std::max(spread.most, work);
    spread.all += work;
}

// How long a thread had worked by some time.
class WorkTime {
  public:
    WorkTime(const Process &process, std::uint32_t thread) {
        Ns total = 0;
        const std::vector<Interval> mpi = mpi_of(process, thread);
        auto call = mpi.begin();
        for (const Interval &part : process.threads[thread].intervals) {
            if (part.state == State::outside)
                continue;
            Ns at = part.begin;
            while (part.state == State::program && call != mpi.end() && call->begin < part.end) {
                if (call->begin > at)
                    add(at, call->begin, total);
                at = std::max(at, std::min(call->end, part.end));
                if (call->end > part.end)
                    break;
                ++call;
            }
            if (part.end > at)
                add(at, part.end, total);
        }
    }
    Ns until(Ns at) const {
        auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                      [](Ns t, const Piece &one) { return t < one.begin; });
        if (piece == pieces_.begin())
            return 0;
        --piece;
        return piece->before + std::min(at, piece->end) - piece->begin;
    }

  private:
    struct Piece {
        Ns begin, end, before;
    };
    void add(Ns begin, Ns end, Ns &total) {
        pieces_.push_back({begin, end, total});
        total += end - begin;
    }
    // Calls outside of tasks, one after the other: who is in one is in none of those within.
    static std::vector<Interval> mpi_of(const Process &process, std::uint32_t thread) {
        std::vector<Interval> found;
        for (const Call &call : process.calls)
            if (!call.post && call.thread == thread && call.end > call.begin &&
                (call.task == 0 || !process.tasks[call.task].ran()) &&
                (found.empty() || call.begin >= found.back().end) &&
                is_mpi_call(process.file.name_of(call.name)))
                found.push_back({call.begin, call.end, State::program, 0});
        return found;
    }
    std::vector<Piece> pieces_;
};

void add_regions(const Process &process, std::map<std::string, RegionKind> &kinds) {
    const std::vector<RegionRun> runs = region_runs(process);
    if (runs.empty())
        return;
    std::vector<WorkTime> worked;
    worked.reserve(process.threads.size());
    for (std::uint32_t thread = 0; thread < process.threads.size(); ++thread)
        worked.emplace_back(process, thread);
    for (const RegionRun &run : runs) {
        Ns most = 0;
        Ns all = 0;
        for (const auto &[thread, begin] : run.begins) {
            const Ns work = worked[thread].until(run.end) - worked[thread].until(begin);
            most = std::max(most, work);
            all += work;
        }
        const std::string name = region_name(process, run.function);
        RegionKind &kind = kinds[name];
        kind.name = name;
        ++kind.runs;
        kind.workers = std::max(kind.workers, run.workers);
        kind.offers |= run.offers;
        kind.offered += static_cast<std::uint64_t>(run.offered);
        kind.taken += static_cast<std::uint64_t>(run.taken);
        kind.work += all;
        kind.most += static_cast<double>(most);
        kind.mean += static_cast<double>(all) / run.workers;
    }
}

} // namespace

std::vector<RegionRun> region_runs(const Process &process) {
    std::map<std::uint64_t, RegionRun> runs;
    for (const Part &part : process.parts) {
        const auto [at, fresh] = runs.try_emplace(part.region);
        RegionRun &run = at->second;
        run.function = part.function;
        run.workers = std::max(run.workers, part.workers);
        run.begin = fresh ? part.begin : std::min(run.begin, part.begin);
        run.end = std::max(run.end, part.end);
        const auto [begin, first] = run.begins.try_emplace(part.thread, part.begin);
        begin->second = std::min(begin->second, part.begin);
        // Who had no part has had no work.
        run.workers = std::max(run.workers, static_cast<int>(run.begins.size()));
    }
    for (const Offer &offer : process.offers) {
        const auto at = runs.find(offer.region);
        if (at == runs.end()) // of a trace that was cut
            continue;
        at->second.offers = true;
        at->second.offered += offer.offered;
        at->second.taken += offer.taken;
    }
    std::vector<RegionRun> result;
    result.reserve(runs.size());
    for (auto &[number, run] : runs)
        result.push_back(std::move(run));
    return result;
}

std::string region_name(const Process &process, std::uint64_t function) {
    std::string name = function ? process.file.name_of(function) : "(unknown)";
    // The names of outlined functions say "task": of a region it is none.
    if (const std::size_t at = name.find(" task "); at != std::string::npos)
        name.replace(at, 6, " region ");
    return name;
}

Balance balance_of(const Job &job, const std::vector<std::vector<Shares>> &shares) {
    Balance balance;
    std::map<std::string, Ns> nodes;
    std::map<std::string, RegionKind> kinds;
    for (std::size_t p = 0; p < job.processes.size(); ++p) {
        const Process &process = job.processes[p];
        Ns rank = 0;
        for (std::size_t i = 0; i < shares[p].size(); ++i) {
            if (process.threads[i].row < 0)
                continue;
            const Ns work = shares[p][i].task + shares[p][i].program;
            add(balance.threads, work);
            rank += work;
        }
        add(balance.ranks, rank);
        nodes[process.file.header.host] += rank;
        add_regions(process, kinds);
    }
    for (const auto &[host, work] : nodes)
        add(balance.nodes, work);
    for (const auto &[name, kind] : kinds)
        balance.regions.push_back(kind);
    std::stable_sort(balance.regions.begin(), balance.regions.end(),
                     [](const RegionKind &a, const RegionKind &b) { return a.lost() > b.lost(); });
    return balance;
}

} // namespace sennit::report
