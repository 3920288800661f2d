// SPDX-License-Identifier: Apache-2.0
// The command under the names of launchers (lib/sennit/shims), for module files that put this
// folder in front of PATH: job scripts stay as they are. `mpiexec` and `mpirun` are `sennit run`,
// which takes their options. `srun` is Slurm's, whose tasks are `sennit exec`.
#pragma once

#include <string>
#include <vector>

namespace sennit::tool {

// A launcher's path that leads to this command is none.
bool is_own_shim(const std::string &path);

// The words behind "sennit" for a command called by `name`. Does not return for srun.
std::vector<std::string> words_for_name(const std::string &name, std::vector<std::string> words);

// "-n 4 ./app x": where the program is. `help`: what `srun --help` prints, which tells the options
// whose value is the next word.
std::size_t program_behind(const std::vector<std::string> &words, const std::string &help);

} // namespace sennit::tool
