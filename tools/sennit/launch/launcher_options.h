// SPDX-License-Identifier: Apache-2.0
// The options of `mpiexec` that `sennit run` hands on: one table for all launchers
// (launcher_options.def). It says how many values an option has, so that the program behind it is
// found, and what the option is called by the launcher that is going to get it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::tool {

enum class Launcher { hydra, intel, orterun, prrte };

// For people: "MPICH", "Open MPI 5".
const char *launcher_name(Launcher launcher);

// Whose options the mpiexec takes that printed this `--version` text.
std::optional<Launcher> launcher_from_version(std::string_view text);

// What an option changes in what Sennit does itself.
enum class LauncherEffect {
    plain,
    hosts,    // ranks are on other machines
    hostfile, // likewise, and the value is a file that has to be readable
    counts,   // says the number of ranks in its own way
    binds,    // ranks are bound: Sennit does not ask for the opposite
    fits,     // no more ranks than there is room for: likewise
    limits,   // only some variables reach the ranks
    folder,   // the program's path begins there
    prefix,   // where the MPI is on other machines
    refused,  // `help` says why, and what to do
};

struct LauncherOption {
    LauncherEffect effect;
    std::string_view names;  // as typed, without dashes, a space between them
    std::string_view values; // their names, a space between them
    std::string_view calls[4];
    std::string_view help;

    int arity() const;
    // As people type it: "--host, -H HOST,...".
    std::string typed() const;
    // As this launcher's command line has it, for people; empty: it has nothing like it.
    std::string shown(Launcher launcher) const;
};

// The whole table.
extern const LauncherOption *const launcher_options;
extern const int launcher_option_count;

// One that was typed.
struct LauncherWord {
    const LauncherOption *option;
    std::string typed; // "--host"
    std::vector<std::string> values;
};

// The option at words[at], its values taken; `at` is then its last word. nullopt: it is none.
// Throws Failure for one without its values, and for those that cannot be under Sennit.
std::optional<LauncherWord> read_launcher_option(const std::vector<std::string> &words,
                                                 std::size_t &at);

// For this launcher's command line. Throws Failure where it has nothing like it.
std::vector<std::string> words_for(Launcher launcher, const LauncherWord &word);

// As it is to be where nobody says anything: Sennit binds threads, or moves them.
std::vector<std::string> binding_nothing(Launcher launcher);

bool has_effect(const std::vector<LauncherWord> &words, LauncherEffect effect);

// Does one of them set or hand on this variable?
bool is_about(const std::vector<LauncherWord> &words, std::string_view variable);

// The folder in which the program starts; empty: this one.
std::string folder_of(const std::vector<LauncherWord> &words);

// Throws Failure for a file of machines that cannot be read.
void check_hostfiles(const std::vector<LauncherWord> &words);

} // namespace sennit::tool
