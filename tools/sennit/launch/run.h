// SPDX-License-Identifier: Apache-2.0
// `sennit run` and `sennit exec`. Both return the exit code of this command; a program that is
// started in place of this process never comes back.
//
// run   starts `mpiexec ... sennit exec --watch <address> <program>`, or, inside a job already and
//       for a program without MPI, does what exec does.
// exec  sets the environment and becomes the program; with a watch address it stays as its parent.
#pragma once

#include "launch/environment.h"

#include <string>

namespace sennit::tool {

int run_program(const JobSpec &spec, const Installation &installation);
int exec_program(const JobSpec &spec, const Installation &installation,
                 const std::string &watch_address);

// The command line that `run` would start for this plan; for a program without MPI its own.
// `watch_address`: empty where it is only shown; then no program is run to find it.
std::vector<std::string> launch_command(const Plan &plan, const JobSpec &spec,
                                        const std::string &watch_address);

// Those of its other programs, too.
int ranks_of_all(const JobSpec &spec);

// Of this machine, those that the ranks share as far as can be said before they are started.
// nullopt: mpiexec is told where they are, or the job has several nodes, and each rank sees for
// itself.
std::optional<int> processors_to_share(const JobSpec &spec);

// For a shell: quoted where it must be.
std::string shell_words(const std::vector<std::string> &words);

} // namespace sennit::tool
