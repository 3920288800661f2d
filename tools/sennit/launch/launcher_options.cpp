// SPDX-License-Identifier: Apache-2.0
#include "launch/launcher_options.h"

#include "common/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sennit::tool {
namespace {

#define SENNIT_MPIEXEC(effect, names, values, hydra, intel, orterun, prrte, help)                  \
    {LauncherEffect::effect, names, values, {hydra, intel, orterun, prrte}, help},
constexpr LauncherOption table[] = {
#include "launch/launcher_options.def"
};
#undef SENNIT_MPIEXEC

struct LauncherRow {
    Launcher launcher;
    const char *name;
    const char *version_words; // one of these is in its `--version`
};
// The most special first: Intel's is a Hydra, and each Open MPI names itself.
constexpr LauncherRow launchers[] = {
    {Launcher::intel, "Intel MPI", "Intel(R) MPI"},
    {Launcher::hydra, "MPICH", "HYDRA|MVAPICH"},
    {Launcher::orterun, "Open MPI 4", "OpenRTE"},
    {Launcher::prrte, "Open MPI 5", "PRRTE|(Open MPI)"},
};

// Calls `take` with each part of `text`.
template <typename Take>
void for_each_part(std::string_view text, char separator, const Take &take) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end > 0)
            take(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

bool has_part(std::string_view text, char separator, std::string_view wanted) {
    bool found = false;
    for_each_part(text, separator, [&](std::string_view part) { found |= part == wanted; });
    return found;
}

bool is_assignment_option(const LauncherOption &option) {
    return option.values.find('=') != std::string_view::npos;
}

// The row of `name`, whose first value would be `value`.
const LauncherOption *find_option(const std::string &name, const std::string &value) {
    const LauncherOption *found = nullptr;
    const bool is_assignment = value.find('=') != std::string::npos;
    for (const LauncherOption &option : table) {
        if (has_part(option.names, ' ', fmt::format("{}={}", name, value)))
            return &option;
        if (!has_part(option.names, ' ', name))
            continue;
        if (is_assignment_option(option) == is_assignment)
            return &option;
        if (!is_assignment_option(option))
            found = &option;
    }
    return found;
}

// Each %1, %* and %w in it is the first argument, %2 the second.
std::string filled(std::string_view call, const std::vector<std::string> &arguments) {
    std::string text;
    for (std::size_t at = 0; at < call.size(); ++at) {
        if (call[at] != '%')
            text += call[at];
        else
            text += arguments.at(call[++at] == '2' ? 1 : 0);
    }
    return text;
}

// What %1 and %2 stand for.
std::vector<std::string> arguments_of(const LauncherWord &word) {
    if (!is_assignment_option(*word.option))
        return word.values;
    const std::string &text = word.values.at(0);
    const std::size_t equals = text.find('=');
    return {text.substr(0, equals), text.substr(equals + 1)};
}

void append_call(std::vector<std::string> &line, std::string_view call,
                 const std::vector<std::string> &arguments) {
    for_each_part(call, ' ',
                  [&](std::string_view part) { line.push_back(filled(part, arguments)); });
}

} // namespace

const LauncherOption *const launcher_options = table;
const int launcher_option_count = std::size(table);

const char *launcher_name(Launcher launcher) {
    return std::find_if(std::begin(launchers), std::end(launchers),
                        [&](const LauncherRow &row) { return row.launcher == launcher; })
        ->name;
}

std::optional<Launcher> launcher_from_version(std::string_view text) {
    for (const LauncherRow &row : launchers) {
        bool found = false;
        for_each_part(row.version_words, '|', [&](std::string_view word) {
            found |= text.find(word) != std::string_view::npos;
        });
        if (found)
            return row.launcher;
    }
    return std::nullopt;
}

int LauncherOption::arity() const {
    int count = 0;
    for_each_part(values, ' ', [&](std::string_view) { ++count; });
    return count;
}

std::string LauncherOption::typed() const {
    std::string text;
    for_each_part(names, ' ', [&](std::string_view name) {
        const std::size_t equals = std::min(name.find('='), name.size());
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", equals == 1 ? "-" : "--",
                            name.substr(0, equals));
        if (equals < name.size())
            text += fmt::format(" {}", name.substr(equals + 1));
    });
    const bool has_value = names.find('=') != std::string_view::npos;
    return values.empty() || has_value ? text : fmt::format("{} {}", text, values);
}

std::string LauncherOption::shown(Launcher launcher) const {
    const std::string_view call = calls[static_cast<int>(launcher)];
    if (call == ".")
        return "not needed";
    const bool is_repeated = call.ends_with("%*");
    std::vector<std::string> arguments;
    for_each_part(values, is_assignment_option(*this) ? '=' : ' ', [&](std::string_view value) {
        arguments.emplace_back(is_repeated ? value.substr(0, value.find(',')) : value);
    });
    return filled(call, arguments);
}

std::optional<LauncherWord> read_launcher_option(const std::vector<std::string> &words,
                                                 std::size_t &at) {
    const std::string &word = words[at];
    const std::size_t start = word.find_first_not_of('-');
    if (start == 0 || start > 2)
        return std::nullopt;
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(start, equals - start);
    const bool has_value = equals != std::string::npos;
    const std::string value = has_value               ? word.substr(equals + 1)
                              : at + 1 < words.size() ? words[at + 1]
                                                      : "";
    const LauncherOption *const option = find_option(name, value);
    if (!option || (has_value && option->arity() != 1))
        return std::nullopt;
    LauncherWord result = {option, word.substr(0, equals), {}};
    if (option->effect == LauncherEffect::refused)
        fail("{} of mpiexec: {}", result.typed, option->help);
    if (has_value)
        result.values.push_back(value);
    const std::size_t missing = option->arity() - result.values.size();
    if (words.size() - at <= missing)
        fail("{} needs {}: {}", result.typed, option->values, option->help);
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    result.values.insert(result.values.end(), first, first + static_cast<std::ptrdiff_t>(missing));
    at += missing;
    return result;
}

std::vector<std::string> words_for(Launcher launcher, const LauncherWord &word) {
    const std::string_view call = word.option->calls[static_cast<int>(launcher)];
    if (call.empty())
        fail("{}: the mpiexec of {} has nothing like it, leave it away (sennit doctor "
             "--options lists what it has)",
             word.typed, launcher_name(launcher));
    std::vector<std::string> line;
    if (call == ".")
        return line;
    const std::vector<std::string> arguments = arguments_of(word);
    if (call == "%w")
        for_each_part(arguments.at(0), ' ',
                      [&](std::string_view part) { line.emplace_back(part); });
    else if (call.ends_with("%*"))
        for_each_part(arguments.at(0), ',',
                      [&](std::string_view item) { append_call(line, call, {std::string(item)}); });
    else
        append_call(line, call, arguments);
    return line;
}

std::vector<std::string> binding_nothing(Launcher launcher) {
    std::size_t at = 0;
    const auto word = read_launcher_option({"--bind-to", "none"}, at);
    return word ? words_for(launcher, *word) : std::vector<std::string>();
}

bool has_effect(const std::vector<LauncherWord> &words, LauncherEffect effect) {
    return std::any_of(words.begin(), words.end(),
                       [&](const LauncherWord &word) { return word.option->effect == effect; });
}

bool is_about(const std::vector<LauncherWord> &words, std::string_view variable) {
    return std::any_of(words.begin(), words.end(), [&](const LauncherWord &word) {
        return word.option->calls[static_cast<int>(Launcher::orterun)].starts_with("-x ") &&
               has_part(arguments_of(word).at(0), ',', variable);
    });
}

std::string folder_of(const std::vector<LauncherWord> &words) {
    std::string folder;
    for (const LauncherWord &word : words)
        if (word.option->effect == LauncherEffect::folder)
            folder = word.values.at(0);
    return folder;
}

void check_hostfiles(const std::vector<LauncherWord> &words) {
    for (const LauncherWord &word : words) {
        if (word.option->effect != LauncherEffect::hostfile)
            continue;
        const std::string &file = word.values.at(0);
        std::error_code ignored;
        if (std::filesystem::is_directory(file, ignored))
            fail("{} {}: it is a folder, not a file of machines", word.typed, file);
        errno = 0;
        if (!std::ifstream(file))
            fail("{} {}: it cannot be read ({})", word.typed, file, std::strerror(errno));
    }
}

} // namespace sennit::tool
