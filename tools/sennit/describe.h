// SPDX-License-Identifier: Apache-2.0
// `sennit describe`: the subcommands and their options, from the tables by which the command line
// is read, in the form that a shell's completion or man has.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace sennit::tool {

// `form`: bash, zsh, fish or man (sennit(1)). Throws Failure for another one.
int describe(const CLI::App &app, const std::string &form);

} // namespace sennit::tool
