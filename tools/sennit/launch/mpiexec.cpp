// SPDX-License-Identifier: Apache-2.0
#include "launch/mpiexec.h"

#include "common/failure.h"
#include "common/safe_place.h"
#include "common/shell_text.h"
#include "launch/shims.h"

#include "base/clock.h"

#include <fmt/ranges.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <thread>
#include <utility>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

// What `path --version` or the like prints, or why it prints nothing.
struct Answer {
    std::string text;
    std::string problem; // empty: none
};

constexpr int patience_ms = 10'000;

std::string problem_of(const std::string &path, const char *option, int status,
                       const std::string &text) {
    const std::string first_line = text.substr(0, text.find('\n'));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return "";
    const std::string how = WIFSIGNALED(status)
                                ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                : fmt::format("ended with code {}", WEXITSTATUS(status));
    return fmt::format("'{} {}' {}{}{}", path, option, how, first_line.empty() ? "" : ": ",
                       first_line);
}

// All that comes until the end, but not for ever.
std::string read_all(int descriptor) {
    constexpr std::size_t most = 64 * 1024;
    const std::int64_t end = monotonic_ns() + patience_ms * std::int64_t{1'000'000};
    std::string text;
    pollfd source = {descriptor, POLLIN, 0};
    for (char buffer[1024]; text.size() < most && monotonic_ns() < end;) {
        if (poll(&source, 1, patience_ms) <= 0)
            break;
        const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
        if (got <= 0)
            break;
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

int wait_for(pid_t child) {
    int status = 0;
    for (int waited_ms = 0; waitpid(child, &status, WNOHANG) == 0; ++waited_ms) {
        if (waited_ms > patience_ms)
            kill(child, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return status;
}

Answer ask(const std::string &path, const char *option) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return {"", fmt::format("no pipe to '{}': {}", path, std::strerror(errno))};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::string program = path;
    std::string argument = option;
    char *const arguments[] = {program.data(), argument.data(), nullptr};
    pid_t child = -1;
    const int error = posix_spawn(&child, path.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    Answer answer;
    if (error == 0) {
        answer.text = read_all(ends[0]);
        answer.problem = problem_of(path, option, wait_for(child), answer.text);
    } else {
        answer.problem = fmt::format("'{}' cannot be started: {}", path, std::strerror(error));
    }
    close(ends[0]);
    return answer;
}

// What stands in its file instead: Hydra has its answer in it, Open MPI's the libraries that it
// needs. A script may have anything.
std::string read_marks(const std::string &path) {
    constexpr std::size_t most = std::size_t{16} * 1024 * 1024;
    std::ifstream file(path, std::ios::binary);
    std::string bytes(most, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    std::string marks = fs::weakly_canonical(path).filename().string() + "\n";
    for (const auto &[mark, word] : {std::pair("libopen-rte", "OpenRTE"),
                                     {"libprrte", "PRRTE"},
                                     {"prterun", "PRRTE"},
                                     {"mpiexec.hydra", "HYDRA"}})
        if (bytes.find(mark) != std::string::npos || marks.starts_with(mark))
            marks += fmt::format("{}\n", word);
    for (const std::string_view word :
         {"HYDRA build details:", "Intel(R) MPI", "MVAPICH", "OpenRTE", "Open MPI", "PRRTE"})
        if (bytes.find(word) != std::string::npos)
            marks += fmt::format("{}\n", word);
    return marks;
}

// Of a text that may speak of both.
std::optional<MpiKind> only_kind_in(const std::string &marks) {
    std::optional<MpiKind> found;
    for (std::size_t at = 0; at < marks.size(); at = marks.find('\n', at) + 1)
        if (const auto kind = mpi_kind_from_version(marks.substr(at, marks.find('\n', at) - at))) {
            if (found && found != kind)
                return std::nullopt;
            found = kind;
        }
    return found;
}

// A text that does not say it is that of the launcher which most have.
Launcher launcher_of(MpiKind kind, const std::string &text) {
    const Launcher usual = kind == MpiKind::openmpi ? Launcher::orterun : Launcher::hydra;
    return launcher_from_version(text).value_or(usual);
}

// Hydra writes "HYDRA build details:\n    Version:   4.0.2", Open MPI "mpiexec (OpenRTE) 4.1.4".
std::string version_line(MpiKind kind, const std::string &text) {
    std::string line = text.substr(0, text.find('\n'));
    constexpr std::string_view label = "Version:";
    if (const std::size_t at = text.find(label); at != std::string::npos)
        line = text.substr(at + label.size(), text.find('\n', at) - at - label.size());
    const std::size_t digit = line.find_first_of("0123456789");
    return fmt::format("{} {}", traits(kind).name,
                       digit == std::string::npos ? "of unknown version" : line.substr(digit));
}

std::vector<std::string> path_folders() {
    const char *path = std::getenv("PATH");
    return split_path_list(path ? path : "/bin:/usr/bin");
}

// Would a shell find it without its folder being named?
bool lies_in_path(const std::string &mpiexec) {
    const std::vector<std::string> folders = path_folders();
    const std::string folder = fs::path(mpiexec).parent_path().string();
    return std::find(folders.begin(), folders.end(), folder) != folders.end();
}

// Beside the MPI libraries that the program gets.
std::vector<std::string> folders_of_program(MpiKind kind, const Plan *plan) {
    std::vector<std::string> folders;
    const auto add = [&](const MpiUse &use) {
        std::error_code error;
        const fs::path library = fs::canonical(use.library.path, error);
        if (!error && use.kind == kind)
            folders.push_back((library.parent_path().parent_path() / "bin").string());
    };
    if (!plan)
        return folders;
    if (plan->program.mpi_beside)
        add(*plan->program.mpi_beside);
    for (const MpiUse &use : plan->program.mpi_libraries)
        add(use);
    return folders;
}

// May it be started only to learn whose it is? What a program brings along is the program's: then
// looking at the program would run it. What lies in PATH is what this user starts by its name.
bool may_be_asked(const std::string &path, Asking asking) {
    return asking == Asking::all || (lies_in_path(path) && only_we_may_change(path) &&
                                     only_we_may_change(fs::path(path).parent_path().string()));
}

// `beside`: whose library lies beside it; nullopt: that of nobody. Null: `problem` says why.
std::optional<Mpiexec> look_at(const std::string &path, std::optional<MpiKind> beside,
                               Asking asking, std::string &problem) {
    if (may_be_asked(path, asking)) {
        const Answer answer = ask(path, "--version");
        const std::optional<MpiKind> whose = mpi_kind_from_version(answer.text);
        if (whose)
            return Mpiexec{*whose, launcher_of(*whose, answer.text), path,
                           version_line(*whose, answer.text)};
        problem = answer.problem.empty() ? fmt::format("{} belongs to another MPI", path)
                                         : answer.problem;
        return std::nullopt;
    }
    const std::string marks = read_marks(path);
    std::optional<MpiKind> whose = only_kind_in(marks);
    if (!whose)
        whose = beside;
    if (whose)
        return Mpiexec{
            *whose, launcher_of(*whose, marks), path,
            fmt::format("{}, not asked for its version: looking runs nothing that others "
                        "or the program may have brought",
                        traits(*whose).name)};
    problem = fmt::format("{} is not asked whose it is, for others may change it", path);
    return std::nullopt;
}

} // namespace

std::string output_of(const std::string &path, const char *option) {
    return ask(path, option).text;
}

Mpiexec find_mpiexec(MpiKind kind, const Plan *plan, Asking asking) {
    std::vector<std::string> problems;
    std::vector<std::string> seen;
    const std::vector<std::string> of_program = folders_of_program(kind, plan);
    std::vector<std::string> folders = of_program;
    for (const std::string &folder : path_folders())
        folders.push_back(folder);
    for (std::size_t i = 0; i < folders.size(); ++i) {
        for (const std::string &name :
             {fmt::format("mpiexec.{}", traits(kind).word), std::string("mpiexec")}) {
            const std::string path = fmt::format("{}/{}", folders[i], name);
            if (access(path.c_str(), X_OK) != 0 || is_shim(path) ||
                std::find(seen.begin(), seen.end(), path) != seen.end())
                continue;
            seen.push_back(path);
            std::string problem;
            const auto found = look_at(
                path, i < of_program.size() ? std::optional(kind) : std::nullopt, asking, problem);
            if (found && launches(found->kind, kind))
                return *found;
            problems.push_back(found ? fmt::format("{} belongs to another MPI", path) : problem);
        }
    }
    const std::string remark =
        problems.empty() ? "" : fmt::format(" ({})", fmt::join(problems, "; "));
    fail(
        "the mpiexec of {} is missing: no mpiexec.{} and no mpiexec of it in PATH{}; install it or "
        "add its folder to PATH",
        traits(kind).name, traits(kind).word, remark);
}

namespace {

bool any_has(const std::vector<Launch> &programs, LauncherEffect effect) {
    return std::any_of(programs.begin(), programs.end(),
                       [&](const Launch &program) { return has_effect(program.options, effect); });
}

// Calls `take` with the name and the value of each variable of this process that begins so.
template <typename Take>
void for_each_variable(std::initializer_list<std::string_view> prefixes, const Take &take) {
    for (char **entry = environ; *entry; ++entry) {
        const std::string_view variable = *entry;
        const std::size_t equals = std::min(variable.find('='), variable.size() - 1);
        for (const std::string_view prefix : prefixes)
            if (variable.starts_with(prefix))
                take(std::string(variable.substr(0, equals)),
                     std::string(variable.substr(equals + 1)));
    }
}

// Hydra hands the whole environment to every rank, on every machine, if it is not told otherwise.
void add_for_hydra(std::vector<std::string> &line, const std::vector<Launch> &programs) {
    if (any_has(programs, LauncherEffect::limits))
        for_each_variable({"SENNIT_"}, [&](const std::string &name, const std::string &value) {
            line.insert(line.end(), {"-genv", name, value});
        });
}

void add_for_openmpi(std::vector<std::string> &line, const std::string &mpiexec,
                     const std::vector<Launch> &programs) {
    if (geteuid() == 0)
        line.emplace_back("--allow-run-as-root");
    // Called with its folder, as here, it puts that in front of the ranks' PATH: commands of a
    // Python environment would become the system's.
    if (lies_in_path(mpiexec) && !any_has(programs, LauncherEffect::prefix))
        line.push_back("--noprefix");
    if (!any_has(programs, LauncherEffect::fits))
        line.push_back("--oversubscribe");
    // Open MPI keeps the environment to this machine but for what -x names. It joins them with
    // ';', which therefore may not be in a value.
    for_each_variable({"OMP_", "GOMP_", "KMP_", "SENNIT_"}, [&](const std::string &name,
                                                                const std::string &value) {
        if (value.find(';') == std::string::npos && !is_about(programs.front().options, name))
            line.insert(line.end(), {"-x", name});
    });
}

// Its variables go to `variables`.
void add_options(std::vector<std::string> &line, std::vector<std::string> &variables,
                 Launcher launcher, const std::vector<LauncherWord> &options) {
    for (const LauncherWord &word : options) {
        const std::vector<std::string> words = words_for(launcher, word);
        const bool is_variable = words.size() == 1 && is_assignment(words[0]);
        std::vector<std::string> &to = is_variable ? variables : line;
        to.insert(to.end(), words.begin(), words.end());
    }
}

// A fault of PMIx 5: mpiexec crashes when it starts several programs, of its command line or of
// MPI_Comm_spawn_multiple, if a file of PMIx's parameters has one whose name Open MPI knows, too.
// Debian 13 has such a file. So none is read then.
constexpr const char *pmix_files = "PMIX_MCA_mca_base_param_files";

bool may_crash_of_pmix_files(const Mpiexec &mpiexec, const std::vector<Launch> &programs) {
    const bool several = programs.size() > 1 ||
                         std::any_of(programs.begin(), programs.end(),
                                     [](const Launch &program) { return program.spawns_several; });
    return mpiexec.launcher == Launcher::prrte && several && !std::getenv(pmix_files);
}

} // namespace

std::vector<std::string> compose_launch(const Mpiexec &mpiexec,
                                        const std::vector<Launch> &programs) {
    std::vector<std::string> line = {mpiexec.path};
    std::vector<std::string> variables;
    if (mpiexec.kind == MpiKind::mpich)
        add_for_hydra(line, programs);
    else
        add_for_openmpi(line, mpiexec.path, programs);
    if (may_crash_of_pmix_files(mpiexec, programs))
        variables.push_back(fmt::format("{}=none", pmix_files));
    if (!any_has(programs, LauncherEffect::binds))
        for (const std::string &word : binding_nothing(mpiexec.launcher))
            line.push_back(word);
    for (const Launch &program : programs) {
        if (std::find(program.command.begin(), program.command.end(), ":") != program.command.end())
            fail("mpiexec hands no ':' on to a program: for another program write ': -n RANKS "
                 "PROGRAM'");
        if (&program != &programs.front())
            line.push_back(":");
        add_options(line, variables, mpiexec.launcher, program.options);
        line.insert(line.end(), {"-n", std::to_string(program.ranks)});
        line.insert(line.end(), program.command.begin(), program.command.end());
    }
    if (!variables.empty()) {
        variables.insert(variables.begin(), resolve_command("env"));
        line.insert(line.begin(), variables.begin(), variables.end());
    }
    return line;
}

} // namespace sennit::tool
