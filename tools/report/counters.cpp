// SPDX-License-Identifier: Apache-2.0
// What processors counted, by what the threads did: tasks of a function, the program, the runtime.
#include "analysis.h"

#include <algorithm>
#include <cstring>

namespace sennit::report {

using namespace trace;

namespace {

// Ranks of different machines may have different counters: the job has all of them.
std::vector<std::string> names_of(const Header &header) {
    std::vector<std::string> names;
    for (const auto &name : header.counters)
        if (*name)
            names.emplace_back(name, strnlen(name, sizeof name));
    return names;
}

std::optional<double> quotient(std::uint64_t of, std::uint64_t whole, double times) {
    if (of == 0 || whole == 0)
        return std::nullopt;
    return times * static_cast<double>(of) / static_cast<double>(whole);
}

} // namespace

std::uint64_t Counters::value(const Counted &row, std::string_view name) const {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? 0 : row.values[static_cast<std::size_t>(at - names.begin())];
}

std::optional<double> Counters::instructions_a_cycle(const Counted &row) const {
    return quotient(value(row, "instructions"), value(row, "cycles"), 1);
}
std::optional<double> Counters::cache_misses(const Counted &row) const {
    return quotient(value(row, "cache-misses"), value(row, "instructions"), 1000);
}
std::optional<double> Counters::branch_misses(const Counted &row) const {
    return quotient(value(row, "branch-misses"), value(row, "instructions"), 1000);
}

Counters counters_of(const Job &job, const std::vector<TaskKind> &kinds) {
    Counters all;
    for (const Process &process : job.processes)
        for (const std::string &name : names_of(process.file.header))
            if (std::find(all.names.begin(), all.names.end(), name) == all.names.end())
                all.names.push_back(name);
    if (std::ranges::all_of(job.processes, [](const Process &one) { return one.counted.empty(); }))
        return all;
    std::map<std::string, std::size_t> places;
    const std::vector<std::uint64_t> none(all.names.size());
    for (const TaskKind &kind : kinds) {
        places[kind.name] = all.rows.size();
        all.rows.push_back({kind.name, kind.count, none});
    }
    const std::size_t program = all.rows.size();
    all.rows.push_back({"the program outside of tasks", 0, none});
    all.rows.push_back({"the runtime, idle or at work", 0, none});
    for (const Process &process : job.processes) {
        const std::vector<std::string> names = names_of(process.file.header);
        std::vector<std::size_t> columns;
        for (const std::string &name : names)
            columns.push_back(static_cast<std::size_t>(
                std::find(all.names.begin(), all.names.end(), name) - all.names.begin()));
        const auto add = [&](std::size_t row, const Counts &counts) {
            for (std::size_t i = 0; i < columns.size(); ++i)
                all.rows[row].values[columns[i]] += counts[i];
        };
        for (std::uint32_t t = 1; t < process.counted.size(); ++t)
            if (process.tasks[t].ran())
                add(places[process.name(t)], process.counted[t]);
        if (!process.counted.empty())
            add(program, process.counted[0]);
        add(program + 1, process.counted_outside);
    }
    return all;
}

} // namespace sennit::report
