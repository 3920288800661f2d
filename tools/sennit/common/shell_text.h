// SPDX-License-Identifier: Apache-2.0
// The commands in a shell's text, as far as a reader who runs nothing can tell them: words without
// quotes, variables that the text itself sets, no comments, no here-documents. It is for looking,
// so a text that is no shell's does no harm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sennit::tool {

struct ShellCommand {
    std::vector<std::string> words; // the first one is what is run; never empty
    std::string line;               // of the text, in which it ends
    bool function = false;          // the text defines what is run
};

std::vector<ShellCommand> read_shell_text(std::string_view text);

// "NAME=value", as shells and `env` take it in front of a command.
bool is_assignment(std::string_view word);

} // namespace sennit::tool
