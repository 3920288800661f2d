// SPDX-License-Identifier: Apache-2.0
// Commands with their options as texts, taken from the tables by which the command line is read:
// for completions (describe.h) and man pages.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sennit::tool {

struct OptionText {
    std::vector<std::string> names; // with their dashes
    std::string value;              // what its value is called; empty: it has none
    bool takes_next = false;        // the next word is its value; else --name=value only
    std::string help;
    std::string group;                // the heading that --help has over it
    std::vector<std::string> choices; // of its value; empty: any
};

// A word that has no dash: the name of a pool, a folder.
struct OperandText {
    std::string name;
    std::string help;
    bool several = false;
};

struct CommandText {
    std::string path; // "run", "pool start"
    std::string help;
    std::vector<OptionText> options;
    std::vector<OperandText> operands;
    std::vector<std::string> inner;      // names of commands in it
    bool takes_program = false;          // a program with its arguments follows the options
    std::vector<OptionText> of_launcher; // mpiexec's, which it takes, too

    bool is_inner() const { return path.find(' ') != std::string::npos; }
};

// Those of `app` that are not hidden, each followed by those in it. Without choices and mpiexec's
// options, which the tables of CLI11 do not have.
std::vector<CommandText> commands_of(const CLI::App &app);

// The page of `command`, sennit-run(1) for "run"; sennit(1) if it is empty. Throws Failure for one
// that is not among `commands`.
void print_man(const std::vector<CommandText> &commands, const std::string &command);

} // namespace sennit::tool
