// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "common/failure.h"
#include "common/nearest.h"
#include "launch/job_context.h"
#include "launch/launcher_options.h"

#include "base/config.h"
#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace sennit::tool {
namespace {

#define SENNIT_CHOICE(...) SENNIT_CHOICE_ROW(__VA_ARGS__),
#define SENNIT_NUMBER(...) SENNIT_NUMBER_ROW(__VA_ARGS__),
#define SENNIT_TEXT(...) SENNIT_TEXT_ROW(__VA_ARGS__),
constexpr OptionRow of_runtime[] = {
#include "base/options.def"
};
constexpr OptionRow of_mpi[] = {
#include "mpi/options.def"
};
constexpr OptionRow of_network[] = {
#include "network/options.def"
};
constexpr OptionRow of_objects[] = {
#include "objects/options.def"
};
constexpr OptionRow of_command[] = {
#include "options.def"
};
#undef SENNIT_CHOICE
#undef SENNIT_NUMBER
#undef SENNIT_TEXT

constexpr std::size_t line_width = 96;

// Words of `text` in lines behind `indent` spaces.
void print_wrapped(std::string_view text, std::size_t indent) {
    std::string line;
    const auto flush = [&] {
        fmt::print("{:{}}{}\n", "", indent, line);
        line.clear();
    };
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        if (!line.empty() && indent + line.size() + 1 + word.size() > line_width)
            flush();
        line.append(line.empty() ? "" : " ").append(word);
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    flush();
}

std::string_view fallback_of(const OptionRow &row) {
    return *row.fallback ? row.fallback : "off";
}

std::string replaced(std::string_view text, char what, std::string_view with) {
    std::string result;
    for (const char c : text)
        c == what ? result.append(with) : result.append(1, c);
    return result;
}

void print_text(const OptionRow &row) {
    fmt::print("{}  ({}: {}; default: {})\n", row.variable, row.kind, row.range, fallback_of(row));
    print_wrapped(row.help, 4);
}

void print_markdown(const OptionRow &row) {
    fmt::print("| `{}` | {}: `{}` | `{}` | {} |\n", row.variable, row.kind,
               replaced(row.range, '|', "\\|"), fallback_of(row), row.help);
}

constexpr Launcher launchers[] = {Launcher::hydra, Launcher::intel, Launcher::orterun,
                                  Launcher::prrte};

// What an option of mpiexec is called by each of them, for people.
std::string calls_of(const LauncherOption &option, std::string_view separator,
                     std::string (*shown)(Launcher launcher, const std::string &call)) {
    std::string text;
    for (std::string_view between; const Launcher launcher : launchers) {
        text.append(between).append(shown(launcher, option.shown(launcher)));
        between = separator; // also behind an empty one: each has its column
    }
    return text;
}

std::string named_call(Launcher launcher, const std::string &call) {
    return fmt::format("{}: {}", launcher_name(launcher), call.empty() ? "no" : call);
}

std::string cell(Launcher, const std::string &call) {
    return call.empty() || call == "not needed" ? call : fmt::format("`{}`", call);
}

void print_call_text(const LauncherOption &option) {
    fmt::print("{}\n", option.typed());
    print_wrapped(option.help, 4);
    if (option.effect != LauncherEffect::refused)
        print_wrapped(calls_of(option, "; ", named_call), 4);
}

void print_call_markdown(const LauncherOption &option) {
    if (option.effect == LauncherEffect::refused)
        fmt::print("| `{}` | refused | | | | {} |\n", option.typed(), option.help);
    else
        fmt::print("| `{}` | {} | {} |\n", option.typed(), calls_of(option, " | ", cell),
                   option.help);
}

// In roff a line must not begin with a dot, and a dash is a minus.
void print_man(const OptionRow &row) {
    fmt::print(".TP\n.B {}\n{}: {}; default: {}\n.br\n{}\n", row.variable, row.kind,
               replaced(row.range, '-', "\\-"), replaced(fallback_of(row), '-', "\\-"),
               replaced(row.help, '-', "\\-"));
}

void print_call_man(const LauncherOption &option) {
    fmt::print(".TP\n.B {}\n{}\n", replaced(option.typed(), '-', "\\-"),
               replaced(option.help, '-', "\\-"));
    if (option.effect != LauncherEffect::refused)
        fmt::print(".br\n{}\n", replaced(calls_of(option, "; ", named_call), '-', "\\-"));
}

struct Form {
    const char *name;
    const char *head;  // of all
    const char *title; // of a table, with {}
    void (*print)(const OptionRow &row);
    const char *calls_title;
    void (*print_call)(const LauncherOption &option);
};
constexpr const char *calls = "Options of mpiexec that sennit run hands on";
constexpr Form forms[] = {
    {"text", "", "", print_text, "\n{}\n\n", print_call_text},
    {"markdown",
     "## Environment variables\n\n"
     "Made by `sennit doctor --options=markdown` from the tables that the code reads. The "
     "variables of the OpenMP\n"
     "standard are in [openmp.md](openmp.md). A bad value costs one line and leaves the default.\n",
     "\n### {}\n\n| variable | values | default | |\n| --- | --- | --- | --- |\n", print_markdown,
     "\n## {}\n\n"
     "Each column says what the option is called there. Where it is empty, there is nothing like "
     "it.\n\n"
     "| option | MPICH | Intel MPI | Open MPI 4 | Open MPI 5 | |\n"
     "| --- | --- | --- | --- | --- | --- |\n",
     print_call_markdown},
    {"man",
     ".TH SENNIT\\-OPTIONS 7\n.SH NAME\nsennit\\-options \\- environment variables of Sennit\n"
     ".SH DESCRIPTION\nA bad value costs one line and leaves the default.\n",
     ".SH {}\n", print_man, ".SH {}\n", print_call_man},
};

// The tables, each with its title.
struct Table {
    const char *title;
    std::span<const OptionRow> rows;
};
constexpr Table tables[] = {{"The OpenMP runtime", of_runtime},
                            {"MPI", of_mpi},
                            {"The injected network", of_network},
                            {"Objects that move between ranks", of_objects},
                            {"The command", of_command}};

// Is `typed`, near to a name of ours, that name? A user's own short name may be near by chance:
// SENNIT_LIB. Of such a name, letters that have changed places count, and one that is missing or
// too many between the first and the last.
bool may_mean(std::string_view typed, std::string_view ours) {
    constexpr std::size_t kShort = 6;
    if (typed.size() >= kShort)
        return ours.size() >= kShort || typed.size() <= ours.size() + 1;
    if (typed.size() == ours.size())
        return std::is_permutation(typed.begin(), typed.end(), ours.begin());
    return !typed.empty() && typed.front() == ours.front() && typed.back() == ours.back();
}

// Of the ranks of a node, which have the same environment, one speaks.
bool is_first_of_node() {
    const std::optional<JobContext> job =
        find_job_context([](const char *name) { return std::getenv(name); });
    return !job || job->local_rank.value_or(job->rank.value_or(0)) == 0;
}

} // namespace

int print_options(const std::string &name) {
    const auto *const form = std::find_if(std::begin(forms), std::end(forms),
                                          [&](const Form &one) { return one.name == name; });
    if (form == std::end(forms))
        fail("--options '{}' is unknown: use text, markdown or man", name);
    fmt::print("{}", form->head);
    for (const Table &table : tables) {
        fmt::print(fmt::runtime(form->title), table.title);
        for (const OptionRow &row : table.rows)
            form->print(row);
    }
    fmt::print(fmt::runtime(form->calls_title), calls);
    for (int i = 0; i < launcher_option_count; ++i)
        form->print_call(launcher_options[i]);
    return 0;
}

void warn_of_misspelt_variables() {
    if (!is_first_of_node())
        return;
    std::vector<std::string> known;
    for (const Table &table : tables)
        for (const OptionRow &row : table.rows)
            known.emplace_back(row.variable);
    constexpr std::string_view kOurs = "SENNIT_";
    for (char **at = environ; *at; ++at) {
        const std::string name = std::string(*at).substr(0, std::string_view(*at).find('='));
        if (!name.starts_with(kOurs) || std::find(known.begin(), known.end(), name) != known.end())
            continue;
        std::vector<std::string> near;
        std::copy_if(known.begin(), known.end(), std::back_inserter(near), [&](const auto &ours) {
            return may_mean(name.substr(kOurs.size()), ours.substr(kOurs.size()));
        });
        if (const std::string meant = meant_instead(name, near, kOurs.size()); !meant.empty())
            tell("sennit: {} is no variable of Sennit's{}: see sennit doctor --options\n",
                 printable(name), meant);
    }
}

} // namespace sennit::tool
