// SPDX-License-Identifier: Apache-2.0
#include "script.h"

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

std::vector<std::string> words_of_shell_text(std::string_view text) {
    constexpr std::string_view between = " \t\r\n;|&()<>\"'`{}";
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (line.starts_with('#'))
            continue;
        for (std::size_t at; (at = line.find_first_not_of(between)) != std::string_view::npos;) {
            line.remove_prefix(at);
            const std::size_t size = std::min(line.find_first_of(between), line.size());
            words.emplace_back(line.substr(0, size));
            line.remove_prefix(size);
        }
    }
    return words;
}

bool is_assignment(std::string_view word) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    constexpr std::string_view others = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                        "0123456789";
    const std::size_t equals = word.find('=');
    return equals != std::string_view::npos && equals > 0 &&
           letters.find(word[0]) != std::string_view::npos &&
           word.substr(0, equals).find_first_not_of(others) == std::string_view::npos;
}

} // namespace sennit::tool
