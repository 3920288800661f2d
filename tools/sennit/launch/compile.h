// SPDX-License-Identifier: Apache-2.0
// `sennit cc|c++|ftn`: becomes the user's compiler, which loads Sennit's plug-in (pass/).
#pragma once

#include "common/installation.h"

#include <string>
#include <vector>

namespace sennit::tool {

// "cc", "c++" or "ftn".
bool is_compiler_command(const std::string &word);

// The compiler's command line: `words` are what was given behind "sennit", "cc" first. A compiler
// may stand there, else it is MPI's wrapper for the language.
std::vector<std::string> compiler_command(const std::vector<std::string> &words,
                                          const std::string &plugin, const std::string &library);

[[noreturn]] void run_compiler(const std::vector<std::string> &words,
                               const Installation &installation);

} // namespace sennit::tool
