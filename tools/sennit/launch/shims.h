// SPDX-License-Identifier: Apache-2.0
// The command under the names of launchers (lib/sennit/shims), for module files that put this
// folder in front of PATH: job scripts stay as they are. `mpiexec` and `mpirun` are `sennit run`,
// which takes their options. `srun` is Slurm's, whose tasks are `sennit exec`. What is asked of a
// launcher itself (--version) the launcher says that lies behind the shims in PATH.
#pragma once

#include <string>
#include <vector>

namespace sennit::tool {

// A launcher's path that leads to this command, or to another Sennit's, is none.
bool is_shim(const std::string &path);

// The words behind "sennit" for a command called by `name`. Does not return for srun and questions.
std::vector<std::string> words_for_name(const std::string &name, std::vector<std::string> words);

} // namespace sennit::tool
