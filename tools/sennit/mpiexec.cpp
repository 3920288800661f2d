// SPDX-License-Identifier: Apache-2.0
#include "mpiexec.h"

#include "failure.h"

#include <fmt/ranges.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

// What `path --version` prints; empty when it cannot be started.
std::string read_version(const std::string &path) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::string program = path;
    std::string argument = "--version";
    char *const arguments[] = {program.data(), argument.data(), nullptr};
    pid_t child = -1;
    const int error = posix_spawn(&child, path.c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    if (error == 0) {
        char buffer[1024];
        for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<std::size_t>(got));
        waitpid(child, nullptr, 0);
    }
    close(ends[0]);
    return text;
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

std::vector<std::string> launcher_folders(MpiKind kind, const Plan *plan) {
    std::vector<std::string> folders;
    if (plan) {
        for (const MpiUse &use : plan->program.mpi_libraries) {
            std::error_code error;
            const fs::path library = fs::canonical(use.library.path, error);
            if (!error && use.kind == kind)
                folders.push_back((library.parent_path().parent_path() / "bin").string());
        }
    }
    for (const std::string &folder : path_folders())
        folders.push_back(folder);
    return folders;
}

} // namespace

Mpiexec find_mpiexec(MpiKind kind, const Plan *plan) {
    std::vector<std::string> others;
    std::vector<std::string> seen;
    for (const std::string &folder : launcher_folders(kind, plan)) {
        for (const std::string &name :
             {fmt::format("mpiexec.{}", traits(kind).word), std::string("mpiexec")}) {
            const std::string path = fmt::format("{}/{}", folder, name);
            if (access(path.c_str(), X_OK) != 0 ||
                std::find(seen.begin(), seen.end(), path) != seen.end())
                continue;
            seen.push_back(path);
            const std::string version = read_version(path);
            const std::optional<MpiKind> whose = mpi_kind_from_version(version);
            if (whose && launches(*whose, kind))
                return {*whose, path, version_line(*whose, version)};
            others.push_back(path);
        }
    }
    const std::string remark =
        others.empty() ? "" : fmt::format(" ({} belongs to another MPI)", fmt::join(others, ", "));
    fail(
        "the mpiexec of {} is missing: no mpiexec.{} and no mpiexec of it in PATH{}; install it or "
        "add its folder to PATH",
        traits(kind).name, traits(kind).word, remark);
}

std::vector<std::string> compose_launch(MpiKind kind, const std::string &mpiexec,
                                        const std::vector<Launch> &programs) {
    std::vector<std::string> line = {mpiexec};
    if (kind == MpiKind::mpich) {
        // Hydra hands the whole environment to every rank, on every machine.
        line.insert(line.end(), {"-bind-to", "none"});
    } else {
        if (geteuid() == 0)
            line.push_back("--allow-run-as-root");
        // Called with its folder, as here, it puts that in front of the ranks' PATH: commands of a
        // Python environment would become the system's.
        if (lies_in_path(mpiexec))
            line.push_back("--noprefix");
        line.insert(line.end(), {"--oversubscribe", "--bind-to", "none"});
        // Open MPI keeps the environment to this machine but for what -x names. It joins them with
        // ';', which therefore may not be in a value.
        for (char **entry = environ; *entry; ++entry) {
            const std::string_view variable = *entry;
            for (const std::string_view prefix : {"OMP_", "GOMP_", "KMP_", "SENNIT_"})
                if (variable.starts_with(prefix) && variable.find(';') == std::string_view::npos)
                    line.insert(line.end(),
                                {"-x", std::string(variable.substr(0, variable.find('=')))});
        }
    }
    for (const Launch &program : programs) {
        if (std::find(program.command.begin(), program.command.end(), ":") != program.command.end())
            fail("mpiexec hands no ':' on to a program: for another program write ': -n RANKS "
                 "PROGRAM'");
        if (&program != &programs.front())
            line.push_back(":");
        line.insert(line.end(), {"-n", std::to_string(program.ranks)});
        line.insert(line.end(), program.command.begin(), program.command.end());
    }
    return line;
}

} // namespace sennit::tool
