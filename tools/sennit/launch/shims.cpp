// SPDX-License-Identifier: Apache-2.0
#include "launch/shims.h"

#include "common/elf_image.h"
#include "common/failure.h"
#include "common/installation.h"
#include "common/process_stat.h"
#include "job/rank_report.h"
#include "launch/mpiexec.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char *mark = "SENNIT_SHIM"; // which process, as a shim, has started a launcher

// A launcher that a shim has started calls the shim: both would start each other for ever. A task
// of that launcher may call it.
void refuse_second_start(const std::string &name) {
    const char *const marked = std::getenv(mark);
    const pid_t first = marked ? std::atoi(marked) : 0;
    for (pid_t process = getpid(); first > 0 && process > 1;) {
        if (process == first)
            fail("'{}' in PATH behind Sennit's link of this name calls that link again: take the "
                 "link's folder out of PATH, or call a launcher by its path",
                 name);
        const auto stat = stat_of(process);
        process = stat ? stat->parent : 0;
    }
}

// The first in PATH that is no shim, marked as started by this one.
std::string find_behind_shim(const std::string &name) {
    own_executable(); // without /proc, a shim cannot be told
    refuse_second_start(name);
    setenv(mark, std::to_string(getpid()).c_str(), 1);
    const char *const path = std::getenv("PATH");
    for (const std::string &folder : split_path_list(path ? path : "/bin:/usr/bin")) {
        std::string candidate = fmt::format("{}/{}", folder, name);
        if (access(candidate.c_str(), X_OK) == 0 && !is_shim(candidate))
            return candidate;
    }
    fail("'{}' is not in PATH, but for Sennit's link of this name", name);
}

[[noreturn]] void become(const std::string &launcher, const std::vector<std::string> &words) {
    std::vector<std::string> line = {launcher};
    line.insert(line.end(), words.begin(), words.end());
    execute(launcher, line);
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

// "-n 4 ./app x": where the program is.
std::size_t program_behind(const std::vector<std::string> &words,
                           const std::set<std::string> &with_value) {
    std::size_t at = 0;
    for (; at < words.size() && words[at].starts_with('-'); ++at) {
        if (words[at] == "--")
            return at + 1;
        if (with_value.contains(words[at]))
            ++at;
    }
    return std::min(at, words.size());
}

// Programs that are to stay as they are: this command, and those by which an MPI's own launcher
// starts its ranks on other nodes.
bool is_left_alone(const std::string &program) {
    const std::string name = fs::path(program).filename();
    return name == "sennit" || name == "orted" || name == "prted" ||
           (name.starts_with("hydra_") && name.ends_with("_proxy"));
}

// Then the program is a list of programs, or a file that is copied to the nodes.
bool is_no_program(const std::string &option) {
    return option == "--multi-prog" || option == "--bcast" || option.starts_with("--bcast=");
}

[[noreturn]] void become_srun(std::vector<std::string> words) {
    const std::string srun = find_behind_shim("srun");
    const std::set<std::string> with_value = options_with_value(output_of(srun, "--help"));
    if (!with_value.contains("--ntasks"))
        fail("'{} --help' does not say that --ntasks has a value, so the program cannot be told "
             "from the options: write {} OPTIONS {} exec PROGRAM",
             srun, srun, own_executable());
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(program_behind(words, with_value));
    const auto program = words.begin() + at;
    if (program != words.end() && !is_left_alone(*program) &&
        std::none_of(words.begin(), program, is_no_program))
        words.insert(program, {own_executable(), "exec", "--"});
    become(srun, words);
}

// Of the launcher itself. Scripts ask whose it is.
bool is_question(const std::vector<std::string> &words) {
    static constexpr std::string_view questions[] = {"--version", "-version", "-V", "-info"};
    return words.size() == 1 &&
           std::find(std::begin(questions), std::end(questions), words[0]) != std::end(questions);
}

} // namespace

bool is_shim(const std::string &path) {
    std::error_code error;
    return fs::canonical(path, error).filename() == "sennit" ||
           fs::equivalent(path, "/proc/self/exe", error);
}

std::vector<std::string> words_for_name(const std::string &name, std::vector<std::string> words) {
    const bool is_srun = name == "srun";
    if (!is_srun && name != "mpiexec" && name != "mpirun")
        return words;
    if (is_question(words))
        become(find_behind_shim(name), words);
    if (is_srun)
        become_srun(std::move(words));
    words.insert(words.begin(), "mpiexec");
    return words;
}

} // namespace sennit::tool
