// SPDX-License-Identifier: Apache-2.0
#include "launch/script.h"

#include "common/shell_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace sennit::tool {
namespace {

constexpr std::size_t most_text = 64 * 1024;

constexpr std::string_view shells[] = {"sh",   "bash", "dash", "rbash", "zsh",    "ksh",
                                       "mksh", "csh",  "tcsh", "fish",  "busybox"};
// What follows a dot is the MPI that it belongs to: mpiexec.mpich.
constexpr std::string_view launchers[] = {"mpiexec", "mpirun", "srun",  "orterun",
                                          "prterun", "aprun",  "jsrun", "prun"};

std::string_view name_of(std::string_view path) {
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

// `line` follows "#!".
std::string interpreter_of(const std::string &line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (name_of(word) != "env")
        return word;
    while (words >> word)
        if (!word.starts_with('-') && !is_assignment(word))
            return word;
    return "env";
}

} // namespace

std::optional<Script> read_script(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return std::nullopt;
    Script script{"/bin/sh", std::string(most_text, '\0')};
    file.read(script.text.data(), static_cast<std::streamsize>(most_text));
    script.text.resize(static_cast<std::size_t>(file.gcount()));
    // A shell may have a program packed behind its text.
    const std::string line = script.text.substr(0, script.text.find('\n'));
    if (line.find('\0') != std::string::npos)
        return std::nullopt;
    if (line.starts_with("#!"))
        script.interpreter = interpreter_of(line.substr(2));
    return script;
}

bool is_shell(std::string_view path) {
    return std::find(std::begin(shells), std::end(shells), name_of(path)) != std::end(shells);
}

bool is_launcher(std::string_view path) {
    const std::string_view name = name_of(path);
    return std::find(std::begin(launchers), std::end(launchers), name.substr(0, name.find('.'))) !=
           std::end(launchers);
}

} // namespace sennit::tool
