// SPDX-License-Identifier: Apache-2.0
// What was typed behind `sennit run`, `exec` or `doctor`: options of the command, then, from the
// first word that is none or behind a "--", the program with its arguments. An argument of the
// program is never taken for an option of ours, and no option takes the program for its value.
#pragma once

#include "launch/environment.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace sennit::tool {

struct CommandLine {
    std::string command;              // run, exec, ...
    std::vector<std::string> options; // for CLI11
    std::vector<LauncherWord> launcher_options;
    std::vector<std::string> program; // with its arguments
};

// `words` follow the name of `command`. Throws Failure for an option that it does not have.
CommandLine split_command_line(const CLI::App &command, std::vector<std::string> words);

// " (do you mean '--threads'?)" for an option that `command` does not have, if it has one like it.
std::string meant_option(const CLI::App &command, const std::string &word);

// "./a x : -n 2 ./b y": the first program with its arguments stays in `words`. The others are
// returned, each from its options on. A ':' without a number of ranks (-n 2, -n2, -np 2) among
// options of mpiexec behind it is an argument as any other, though no mpiexec can hand it on
// (compose_launch).
std::vector<std::vector<std::string>> take_other_programs(std::vector<std::string> &words);

// The program and its arguments, into `spec`. "NAME=value" in front of them is set in this
// process's environment, which the program gets, as a shell would, unless it is not to be
// `set_here`.
void set_command(JobSpec &spec, const std::vector<std::string> &words, bool set_here = true);

// Options of `run` and `exec`, as typed.
class RunOptions {
  public:
    // `starts_job`: as `run`, with a number of ranks, several programs and mpiexec's options.
    void add_to(CLI::App &command, bool starts_job);
    JobSpec spec(const CommandLine &line) const;

    // Those of `doctor`.
    void add_doctor_to(CLI::App &command);

  private:
    void add_options_to(CLI::App &command);
    void add_world_options_to(CLI::App &command);
    JobSpec make(const CommandLine &line) const;
    void set_pool(JobSpec &spec) const;
    static CommandLine parsed(CLI::App &command, std::vector<std::string> words);
    JobSpec apart(std::vector<std::string> words, const std::vector<LauncherWord> &common) const;
    static JobSpec other(const std::vector<std::string> &words);

    std::string ranks_, threads_, split_, policy_, trace_, counters_, bind_, mpi_ = "auto";
    std::string pool_, share_, priority_;
    std::string virtual_;
    bool apart_ = false, one_world_ = false, worlds_ = false, dry_run_ = false, verbose_ = false;
    bool talp_ = false;
};

// What `sennit --help` ends with.
extern const char *const help_footer;

} // namespace sennit::tool
