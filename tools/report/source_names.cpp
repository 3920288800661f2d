// SPDX-License-Identifier: Apache-2.0
#include "analysis.h"

#include "base/clock.h"
#include "base/printable.h"
#include "base/source_lines.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace sennit::report {
namespace {

// Names that say nothing to who wrote the program.
bool made_up(const std::string &name) {
    return name.find("omp_task_entry") != std::string::npos ||
           name.find("omp_outlined") != std::string::npos ||
           name.find("..omp_par") != std::string::npos ||
           name.find(" task ") != std::string::npos || name.find("+0x") != std::string::npos;
}

// Whose files addr2line reads. Of a trace that another user has made it reads only this user's and
// the system's: the name may be that of a file made to mislead it. A pipe by that name would never
// end.
bool may_be_read(const std::string &module, bool own_trace) {
    struct stat facts{};
    return stat(module.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           (own_trace || facts.st_uid == geteuid() || facts.st_uid == 0) &&
           access(module.c_str(), R_OK) == 0;
}

// "file:line" for each offset; "" where there is none.
std::vector<std::string> lines_of(const std::string &module,
                                  const std::vector<std::uint64_t> &offsets) {
    constexpr std::int64_t kMostNs = 60'000'000'000; // large programs take addr2line seconds
    std::vector<SourceLine> found(offsets.size());
    look_up_lines(module.c_str(), offsets.data(), offsets.size(), found.data(),
                  monotonic_ns() + kMostNs);
    std::vector<std::string> lines;
    for (const SourceLine &line : found)
        lines.push_back(printable(line.text));
    return lines;
}

std::string name_of_entry(const std::string &name, const std::string &line) {
    const std::size_t outlined = name.find(" task ");
    return line.empty()                    ? name
           : outlined == std::string::npos ? line
                                           : name.substr(0, outlined) + " (" + line + ")";
}

// Calls of one function are told apart, with a debugger's information or without.
std::string name_of_place(const std::string &name, std::uint64_t offset, const std::string &line) {
    if (!line.empty() || name.find("+0x") != std::string::npos)
        return line.empty() ? name : line;
    char text[32];
    std::snprintf(text, sizeof text, " (0x%llx)", static_cast<unsigned long long>(offset));
    return name + text;
}

} // namespace

void name_by_source(Job &job) {
    std::vector<std::set<std::uint64_t>> calls; // by process: places of calls, not entries
    for (const Process &process : job.processes) {
        calls.emplace_back();
        for (const trace::MovedCall &call : process.moved)
            calls.back().insert(call.place);
    }
    std::map<std::string, std::map<std::uint64_t, std::string>> modules;
    for (std::size_t p = 0; p < job.processes.size(); ++p)
        for (const auto &[entry, place] : job.processes[p].file.places)
            if ((made_up(job.processes[p].file.name_of(entry)) || calls[p].contains(entry)) &&
                modules.size() < 64 && may_be_read(place.module, job.processes[p].file.is_own))
                modules[place.module][place.offset];
    for (auto &[module, offsets] : modules) {
        std::vector<std::uint64_t> list;
        for (const auto &[offset, line] : offsets)
            list.push_back(offset);
        list.resize(std::min(list.size(), kMostLooked));
        const std::vector<std::string> lines = lines_of(module, list);
        for (std::size_t i = 0; i < list.size(); ++i)
            offsets[list[i]] = lines[i];
    }
    for (std::size_t p = 0; p < job.processes.size(); ++p)
        for (const auto &[entry, place] : job.processes[p].file.places) {
            const auto module = modules.find(place.module);
            if (module == modules.end())
                continue;
            const auto line = module->second.find(place.offset);
            if (line == module->second.end())
                continue;
            std::string &name = job.processes[p].file.names[entry];
            name = calls[p].contains(entry) ? name_of_place(name, place.offset, line->second)
                                            : name_of_entry(name, line->second);
        }
}

} // namespace sennit::report
