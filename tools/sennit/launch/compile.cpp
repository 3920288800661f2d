// SPDX-License-Identifier: Apache-2.0
#include "launch/compile.h"

#include "common/argument_pointers.h"
#include "common/failure.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace sennit::tool {
namespace {

namespace fs = std::filesystem;

// A language: MPI's wrapper for it, the compiler that can load the plug-in, and how the wrappers of
// MPICH and Open MPI are told to use that one.
struct Language {
    const char *command;
    const char *wrapper;
    const char *compiler;
    std::array<const char *, 2> variables;
    const char *to_frontend; // hands it the next word
};
constexpr Language kLanguages[] = {
    {"cc", "mpicc", "clang-19", {"MPICH_CC", "OMPI_CC"}, "-Xclang"},
    {"c++", "mpicxx", "clang++-19", {"MPICH_CXX", "OMPI_CXX"}, "-Xclang"},
    {"ftn", "mpif90", "flang-new-19", {"MPICH_FC", "OMPI_FC"}, "-Xflang"},
};

const Language *language_of(const std::string &command) {
    for (const Language &language : kLanguages)
        if (command == language.command)
            return &language;
    return nullptr;
}

bool is_program(const std::string &path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

bool found_in_path(const std::string &name) {
    const char *path = std::getenv("PATH");
    for (std::string_view left = path ? path : ""; !left.empty();) {
        const std::size_t end = std::min(left.find(':'), left.size());
        if (is_program(std::string(left.substr(0, end)) + "/" + name))
            return true;
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return false;
}

bool names_compiler(const std::string &word) {
    if (word.empty() || word[0] == '-')
        return false;
    return word.find('/') == std::string::npos ? found_in_path(word) : is_program(word);
}

// Options of the plug-in.
constexpr const char *kOptions[] = {"-sennit-collectives", "-sennit-detach"};

// Does the compiler link, with these arguments?
bool links(const std::vector<std::string> &arguments) {
    constexpr std::string_view kNoLink[] = {
        "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-show", "--showme", "-###"};
    bool any_input = false;
    for (const std::string &argument : arguments) {
        if (std::find(std::begin(kNoLink), std::end(kNoLink), argument) != std::end(kNoLink))
            return false;
        any_input |= !argument.empty() && argument[0] != '-';
    }
    return any_input;
}

// The first line of what the compiler says of its version.
std::string version_of(const std::string &compiler) {
    std::string quoted = "'";
    for (const char c : compiler)
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    std::FILE *pipe = popen((quoted + "' --version 2>/dev/null").c_str(), "re"); // NOLINT: quoted
    char line[256] = "";
    if (pipe) {
        if (!std::fgets(line, sizeof line, pipe))
            line[0] = 0;
        while (std::getc(pipe) != EOF) {
        }
        pclose(pipe);
    }
    line[std::strcspn(line, "\n")] = 0;
    return line;
}

// How it ended, as a shell says it.
int status_of(std::vector<std::string> &command) {
    constexpr int kNotStarted = 127, kSignal = 128;
    pid_t child = -1;
    if (posix_spawnp(&child, command[0].c_str(), nullptr, nullptr,
                     argument_pointers(command).data(), environ) != 0)
        return kNotStarted;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignal + WTERMSIG(status);
}

} // namespace

bool is_compiler_command(const std::string &word) {
    return language_of(word) != nullptr;
}

std::vector<std::string> compiler_command(const std::vector<std::string> &words,
                                          const std::string &plugin, const std::string &library) {
    const Language &language = *language_of(words[0]);
    std::vector<std::string> arguments(words.begin() + 1, words.end());
    std::string compiler = language.wrapper;
    if (!arguments.empty() && names_compiler(arguments[0])) {
        compiler = arguments[0];
        arguments.erase(arguments.begin());
    }
    const bool program = links(arguments);
    std::vector<std::string> command = {compiler, "-fpass-plugin=" + plugin};
    // LLVM reads its options before it loads such a plug-in. So it is loaded in the old way, too.
    std::vector<std::string> to_frontend;
    for (const char *option : kOptions)
        if (std::erase(arguments, option) > 0)
            to_frontend.insert(to_frontend.end(), {"-mllvm", option});
    if (!to_frontend.empty())
        to_frontend.insert(to_frontend.begin(), {"-load", plugin});
    for (const std::string &word : to_frontend)
        command.insert(command.end(), {language.to_frontend, word});
    command.insert(command.end(), arguments.begin(), arguments.end());
    if (program)
        command.push_back(library);
    return command;
}

void run_compiler(const std::vector<std::string> &words, const Installation &installation) {
    const Language &language = *language_of(words[0]);
    const std::string plugin = installation.library_folder() + "/libsennit-pass.so";
    const std::string library = installation.library_folder() + "/libsennit-pass.a";
    for (const std::string &file : {plugin, library})
        if (!is_program(file) && !fs::exists(file))
            fail("{} is missing: build Sennit where llvm-19-dev and clang-19 are installed", file);
    for (const char *variable : language.variables)
        setenv(variable, language.compiler, 0);
    // ccache does not know that the result depends on the plug-in.
    const char *files = std::getenv("CCACHE_EXTRAFILES");
    setenv("CCACHE_EXTRAFILES", (files && *files ? files + (":" + plugin) : plugin).c_str(), 1);
    std::vector<std::string> command = compiler_command(words, plugin, library);
    const int status = status_of(command);
    if (status == 0)
        std::exit(0);
    // Which compiler it is, is asked only now: the question takes a tenth of a short compilation.
    // Other compilers do not know the option, or are refused by the plug-in (pass/plugin.cpp).
    const std::string version = version_of(command[0]);
    if (version.find("version 19.") == std::string::npos)
        fail("the plug-in is for clang 19 and flang 19, not for '{}' ({}): sennit {} {} ..., or "
             "{}={} for MPI's wrapper",
             command[0], version.empty() ? "it does not run" : version, language.command,
             language.compiler, language.variables[0], language.compiler);
    std::exit(status);
}

} // namespace sennit::tool
