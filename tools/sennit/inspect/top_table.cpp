// SPDX-License-Identifier: Apache-2.0
#include "inspect/top_table.h"

#include "base/printable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace sennit::tool {
namespace {

std::string who(const Snapshot &now, int slot) {
    const MemberNow *const member = now.find(slot);
    if (!member)
        return "nobody";
    return member->rank < 0 ? fmt::format("{}:{}", member->program, member->job)
                            : fmt::format("{}:{}.{}", member->program, member->job, member->rank);
}

std::string core_text(const Snapshot &now, const CoreNow &core) {
    std::string owner = who(now, core.owner);
    if (core.user == node::kNobody)
        return fmt::format("{} free", owner);
    if (core.user == core.owner)
        return owner;
    return fmt::format("{} -> {}{}", owner, who(now, core.user),
                       core.recalled ? " (recalled)" : "");
}

// Cores beside each other that say the same are one line.
void add_cores(std::vector<std::string> &lines, const Snapshot &now) {
    for (std::size_t i = 0; i < now.cores.size();) {
        const std::string text = core_text(now, now.cores[i]);
        std::size_t end = i + 1;
        while (end < now.cores.size() && now.cores[end].core == now.cores[end - 1].core + 1 &&
               core_text(now, now.cores[end]) == text)
            ++end;
        const int first = now.cores[i].core;
        const int last = now.cores[end - 1].core;
        const std::string numbers =
            first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
        lines.push_back(fmt::format("core {:<7} {}", numbers, text));
        i = end;
    }
}

std::string percent(double part) {
    return fmt::format("{:.0f}%", 100 * part);
}

std::string number(double value) {
    if (value == 0)
        return "-";
    return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string state_of(const MemberNow &one) {
    if (!one.shares_cores && one.counts)
        return one.spent.doing.useful > 0 ? "runs" : one.spent.doing.mpi > 0 ? "waits" : "idle";
    return !one.shares_cores ? "rings" : one.waits ? "waits" : one.uses > 0 ? "runs" : "idle";
}

} // namespace

void Period::add(Snapshot snapshot) {
    if (empty_)
        first_ = snapshot;
    empty_ = false;
    last_ = std::move(snapshot);
    for (const MemberNow &one : last_.members) {
        const auto slot = static_cast<std::size_t>(one.slot);
        sums_.resize(std::max(sums_.size(), slot + 1));
        Sums &sums = sums_[slot];
        if (sums.identity != one.identity)
            sums = {one.identity};
        ++sums.looks;
        sums.owned += one.owns;
        sums.lent += one.lent;
    }
}

void Period::restart() {
    Snapshot last = std::move(last_);
    *this = {};
    add(std::move(last));
}

Rates Period::rates(const MemberNow &now) const {
    Rates rates;
    const auto slot = static_cast<std::size_t>(now.slot);
    if (slot < sums_.size() && sums_[slot].identity == now.identity && sums_[slot].owned > 0)
        rates.lent = sums_[slot].lent / sums_[slot].owned;
    const double seconds = static_cast<double>(last_.now_ns - first_.now_ns) * 1e-9;
    const MemberNow *const before = first_.find(now.slot);
    if (!before || before->identity != now.identity || seconds <= 0)
        return rates;
    if (now.counts && before->counts)
        rates.spent = now.spent.since(before->spent);
    const auto used = static_cast<double>(now.used_ns - before->used_ns);
    rates.cores = std::max(0.0, used * 1e-9 / seconds);
    if (used > 0)
        rates.borrowed =
            std::clamp(static_cast<double>(now.borrowed_ns - before->borrowed_ns) / used, 0.0, 1.0);
    rates.moves = static_cast<double>(now.moves - before->moves) / seconds;
    rates.speed = static_cast<double>(now.progress - before->progress) / seconds;
    return rates;
}

JobEfficiency Period::efficiency(int job, bool since_begin) const {
    JobEfficiency found;
    double most = 0; // outside of MPI, per thread
    std::int64_t threads = 0;
    for (const MemberNow &one : last_.members) {
        if (!one.counts || one.job != job)
            continue;
        const Spent spent = since_begin ? one.spent.all() : rates(one).spent;
        if (spent.total() <= 0)
            continue;
        found.spent += spent;
        threads += one.spent.threads;
        most = std::max(most, static_cast<double>(spent.outside_mpi()) /
                                  static_cast<double>(one.spent.threads));
    }
    found.mpi = mpi_factors(found.spent, most, static_cast<int>(threads));
    return found;
}

namespace {

// Those that count their time, by the first of their members.
std::vector<const MemberNow *> counted_jobs(const Snapshot &now) {
    std::vector<const MemberNow *> jobs;
    for (const MemberNow &one : now.members)
        if (one.counts && std::none_of(jobs.begin(), jobs.end(), [&](const MemberNow *other) {
                return other->job == one.job;
            }))
            jobs.push_back(&one);
    return jobs;
}

void add_efficiencies(std::vector<std::string> &lines, const Period &period) {
    for (const MemberNow *const job : counted_jobs(period.last()))
        for (const bool since_begin : {false, true}) {
            const JobEfficiency found = period.efficiency(job->job, since_begin);
            const Spent &spent = found.spent;
            if (spent.total() > 0)
                lines.push_back(fmt::format(
                    "{:<20} efficiency {}: parallel {} = MPI {} (load balance {} x communication "
                    "{}) x OpenMP {} (serial parts {} x load balance {} x scheduling {})",
                    fmt::format("{}:{}", job->program.substr(0, 14), job->job),
                    since_begin ? "since the start" : "now", percent(spent.parallel()),
                    percent(spent.mpi_part()), percent(found.mpi.rank_balance),
                    percent(found.mpi.communication), percent(spent.openmp()),
                    percent(spent.serial_parts()), percent(spent.thread_balance()),
                    percent(spent.overhead())));
        }
}

nlohmann::json json_of(const Spent &spent) {
    return {{"useful", spent.useful},
            {"mpi", spent.mpi},
            {"serial", spent.serial},
            {"imbalance", spent.imbalance},
            {"scheduling", spent.scheduling}};
}

nlohmann::json json_of(const JobEfficiency &found) {
    const Spent &spent = found.spent;
    return {{"parallel", spent.parallel()},
            {"mpi", spent.mpi_part()},
            {"mpi_load_balance", found.mpi.rank_balance},
            {"mpi_communication", found.mpi.communication},
            {"openmp", spent.openmp()},
            {"openmp_serial", spent.serial_parts()},
            {"openmp_load_balance", spent.thread_balance()},
            {"openmp_scheduling", spent.overhead()}};
}

} // namespace

std::vector<std::string> top_lines(const BoardFacts &facts, const Period &period, int width) {
    const Snapshot &now = period.last();
    std::vector<std::string> lines = {facts.title};
    if (now.members.empty())
        lines.emplace_back("no process takes part");
    else
        add_cores(lines, now);
    if (!now.members.empty())
        lines.push_back(fmt::format("{:<20} {:>4} {:>8} {:<6} {:>4} {:>4} {:>5} {:>7} {:>6} {:>8} "
                                    "{:>6} {:>8} {:>8} {:>7}",
                                    "PROGRAM", "RANK", "PID", "STATE", "OWN", "USE", "WANT",
                                    "WITHOUT", "CORES", "BORROWED", "LENT", "MOVES/S", "SPEED",
                                    "SPEEDUP"));
    for (const MemberNow &one : now.members) {
        const Rates rates = period.rates(one);
        lines.push_back(fmt::format(
            "{:<20} {:>4} {:>8} {:<6} {:>4} {:>4} {:>5} {:>7} {:>6.2f} {:>8} {:>6} {:>8} {:>8} "
            "{:>7}",
            fmt::format("{}:{}", one.program.substr(0, 14), one.job),
            one.rank < 0 ? "-" : std::to_string(one.rank), one.pid, state_of(one), one.owns,
            one.uses, one.wants, one.without, rates.cores, percent(rates.borrowed),
            percent(rates.lent), number(rates.moves), number(rates.speed), number(one.speed_up)));
    }
    add_efficiencies(lines, period);
    for (std::string &line : lines) // a program's name may be anything
        line = printable(line);
    if (width > 0)
        for (std::string &line : lines)
            line.resize(std::min(line.size(), static_cast<std::size_t>(width)));
    return lines;
}

namespace {

// A program's name may be in any encoding.
std::string text_of(const nlohmann::json &value, int indent) {
    return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json json_of(const BoardFacts &facts, const Period &period) {
    const Snapshot &now = period.last();
    nlohmann::json result = {{"pool", facts.pool},
                             {"policy", facts.policy},
                             {"cores", nlohmann::json::array()},
                             {"processes", nlohmann::json::array()},
                             {"efficiencies", nlohmann::json::array()}};
    for (const MemberNow *const job : counted_jobs(now))
        result["efficiencies"].push_back(
            {{"job", job->job},
             {"program", job->program},
             {"now", json_of(period.efficiency(job->job, false))},
             {"since_start", json_of(period.efficiency(job->job, true))}});
    for (const CoreNow &core : now.cores)
        result["cores"].push_back({{"core", core.core},
                                   {"owner", core.owner},
                                   {"user", core.user},
                                   {"recalled", core.recalled}});
    for (const MemberNow &one : now.members) {
        const Rates rates = period.rates(one);
        nlohmann::json spent;
        if (one.counts)
            spent = {{"threads", one.spent.threads},
                     {"doing", json_of(one.spent.doing)},
                     {"period_ns", json_of(rates.spent)},
                     {"all_ns", json_of(one.spent.all())},
                     {"mpi_calls", one.spent.mpi_calls}};
        nlohmann::json speeds = nlohmann::json::array();
        for (const node::Memory::Speed &measured : one.speeds)
            speeds.push_back({{"cores", measured.cores}, {"speed", measured.speed}});
        result["processes"].push_back({{"slot", one.slot},
                                       {"program", one.program},
                                       {"job", one.job},
                                       {"rank", one.rank},
                                       {"pid", one.pid},
                                       {"share", one.share},
                                       {"priority", one.priority},
                                       {"leftover", one.leftover},
                                       {"shares_cores", one.shares_cores},
                                       {"waits", one.waits},
                                       {"state", state_of(one)},
                                       {"spent", std::move(spent)},
                                       {"owns", one.owns},
                                       {"uses", one.uses},
                                       {"wants", one.wants},
                                       {"without", one.without},
                                       {"lends", one.lent},
                                       {"borrows", one.borrowed},
                                       {"used_s", static_cast<double>(one.used_ns) * 1e-9},
                                       {"borrowed_s", static_cast<double>(one.borrowed_ns) * 1e-9},
                                       {"moves", one.moves},
                                       {"kept", one.kept},
                                       {"late", one.late},
                                       {"slept", one.slept},
                                       {"progress", one.progress},
                                       {"cores_in_use", rates.cores},
                                       {"borrowed_part", rates.borrowed},
                                       {"lent_part", rates.lent},
                                       {"moves_per_s", rates.moves},
                                       {"speed", rates.speed},
                                       {"speed_up", one.speed_up},
                                       {"measured", std::move(speeds)}});
    }
    return result;
}

} // namespace

std::string top_json(const BoardFacts &facts, const Period &period) {
    return text_of(json_of(facts, period), 2);
}

std::string live_json(const BoardFacts &facts, const Period &period, double at, bool over) {
    return text_of(
        {{"title", facts.title}, {"at", at}, {"over", over}, {"top", json_of(facts, period)}}, -1);
}

} // namespace sennit::tool
