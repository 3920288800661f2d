// SPDX-License-Identifier: Apache-2.0
// A running mpiexec and everything under it: `sennit run` waits for it, hands signals on, and
// leaves no process behind when the job was interrupted or failed.
//
// mpiexec stays in our process group, so that the terminal serves it (input, Ctrl-C, Ctrl-Z) as if
// it had been started by hand. A signal that the terminal sent has reached it already; one that was
// sent to us alone is handed on. The ranks are in groups of their own, stopping and continuing them
// is done here. Orphans come to us (child subreaper), so they are found whoever started them.
#pragma once

#include <string>
#include <vector>

namespace sennit::tool {

struct JobEnd {
    int code;        // of mpiexec; 128 + signal if a signal ended it
    int interrupted; // the first signal that asked the job to end, or 0
    int ended_by;    // the signal that ended mpiexec, or 0
};

// SIGUSR2 is handed on only to a launcher that passes it to the ranks: MPICH's dies of it.
JobEnd run_job(const std::vector<std::string> &command, bool launcher_knows_usr2);

} // namespace sennit::tool
