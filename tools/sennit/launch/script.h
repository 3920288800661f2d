// SPDX-License-Identifier: Apache-2.0
// Scripts: which interpreter runs them, and which of their words are known to start programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sennit::tool {

struct Script {
    std::string interpreter; // as its first line names it, behind an `env` there; else /bin/sh
    std::string text;        // the beginning of a long one
};
// nullopt: the file is no text, or cannot be read.
std::optional<Script> read_script(const std::string &path);

// Is this the command of a shell: does it do nothing but start other programs?
bool is_shell(std::string_view path);

// Does this command start the ranks of a job: mpiexec, srun and the like?
bool is_launcher(std::string_view path);

} // namespace sennit::tool
