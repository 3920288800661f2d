// SPDX-License-Identifier: Apache-2.0
// The launcher of an MPI: where it is, and the command line that starts a job with it.
#pragma once

#include "launch/environment.h"
#include "launch/launcher_options.h"

#include <string>
#include <vector>

namespace sennit::tool {

struct Mpiexec {
    MpiKind kind;      // whose ranks it starts
    Launcher launcher; // whose options it takes
    std::string path;
    std::string version; // one line, for people
};

// To learn whose an mpiexec is, it may be asked for its version, and that runs it. Who only looks
// (`sennit doctor`, --dry-run) runs no more than what lies in PATH, where nobody but root and this
// user may write; of the others the file is read.
enum class Asking { all, only_safe_ones };

// What a launcher prints if it is started with this option only.
std::string output_of(const std::string &path, const char *option);

// The launcher of this MPI: beside the MPI library that the program gets, else in PATH;
// mpiexec.<mpi>, else an mpiexec whose --version shows that it belongs to this MPI. `plan` may be
// null (no program). Throws Failure when there is none.
Mpiexec find_mpiexec(MpiKind kind, const Plan *plan, Asking asking);

// What so many ranks run.
struct Launch {
    int ranks;
    std::vector<std::string> command;
    std::vector<LauncherWord> options;
    bool spawns_several = false; // see Imports
};

// `<mpiexec> <options> -n <ranks> command... : <options> -n <ranks> command...` Throws Failure for
// a
// ':' in a command, behind which mpiexec would start another program, and for an option that this
// mpiexec does not have. Variables that it reads stand in front: `env NAME=value <mpiexec>`.
std::vector<std::string> compose_launch(const Mpiexec &mpiexec,
                                        const std::vector<Launch> &programs);

} // namespace sennit::tool
