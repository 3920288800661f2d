// SPDX-License-Identifier: Apache-2.0
// `sennit describe`: the subcommands and their options, from the tables by which the command line
// is read, in the form that a shell's completion or man has.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sennit::tool {

// `form`: bash, zsh, fish or man. Of man, the page of `command`: sennit-run(1) for "run", sennit(1)
// if it is empty. Throws Failure for another form, or a command that has no page.
int describe(const CLI::App &app, const std::string &form, const std::string &command);

} // namespace sennit::tool
