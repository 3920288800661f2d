// SPDX-License-Identifier: Apache-2.0
#include "launch/shims.h"

#include "common/elf_image.h"
#include "common/failure.h"
#include "common/installation.h"
#include "job/rank_report.h"
#include "launch/mpiexec.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

// The first in PATH that is not this command.
std::string find_behind_shim(const std::string &name) {
    const char *const path = std::getenv("PATH");
    for (const std::string &folder : split_path_list(path ? path : "/bin:/usr/bin")) {
        std::string candidate = fmt::format("{}/{}", folder, name);
        if (access(candidate.c_str(), X_OK) == 0 && !is_own_shim(candidate))
            return candidate;
    }
    fail("'{}' is not in PATH, but for Sennit's link of this name", name);
}

// "  -n, --ntasks=ntasks   number of tasks to run", but not "  -I, --immediate[=secs]".
std::set<std::string> options_with_value(const std::string &help) {
    std::set<std::string> options;
    for (const std::string &line : split_path_list(help, "\n")) {
        const std::size_t name = line.find("--");
        if (name == std::string::npos || line.find_first_not_of(' ') != line.find('-'))
            continue;
        const std::size_t end = line.find_first_of(" =[", name);
        if (end == std::string::npos || line[end] != '=')
            continue;
        options.insert(line.substr(name, end - name));
        if (const std::size_t letter = line.find('-'); letter != name)
            options.insert(line.substr(letter, 2));
    }
    return options;
}

[[noreturn]] void become_srun(const std::vector<std::string> &words) {
    const std::string srun = find_behind_shim("srun");
    std::vector<std::string> line = {srun};
    const std::size_t program = program_behind(words, output_of(srun, "--help"));
    line.insert(line.end(), words.begin(), words.begin() + static_cast<std::ptrdiff_t>(program));
    if (program < words.size() && fs::path(words[program]).filename() != "sennit")
        line.insert(line.end(), {own_executable(), "exec", "--"});
    line.insert(line.end(), words.begin() + static_cast<std::ptrdiff_t>(program), words.end());
    execute(srun, line);
}

} // namespace

bool is_own_shim(const std::string &path) {
    std::error_code error;
    return fs::equivalent(path, "/proc/self/exe", error) && !error;
}

std::size_t program_behind(const std::vector<std::string> &words, const std::string &help) {
    const std::set<std::string> with_value = options_with_value(help);
    std::size_t at = 0;
    for (; at < words.size() && words[at].starts_with('-'); ++at) {
        if (words[at] == "--")
            return at + 1;
        if (with_value.contains(words[at]))
            ++at;
    }
    return std::min(at, words.size());
}

std::vector<std::string> words_for_name(const std::string &name, std::vector<std::string> words) {
    if (name == "srun")
        become_srun(words);
    if (name == "mpiexec" || name == "mpirun")
        words.insert(words.begin(), "mpiexec");
    return words;
}

} // namespace sennit::tool
