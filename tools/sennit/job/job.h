// SPDX-License-Identifier: Apache-2.0
// A running mpiexec and everything under it: `sennit run` waits for it, hands signals on, and
// leaves no process behind when the job was interrupted or failed.
//
// mpiexec stays in our process group, so that the terminal serves it (input, Ctrl-C, Ctrl-Z) as if
// it had been started by hand. A signal that the terminal sent has reached it already; one that was
// sent to us alone is handed on. The ranks are in groups of their own, stopping and continuing them
// is done here. Orphans come to us (child subreaper), so they are found whoever started them.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace sennit::tool {

struct JobEnd {
    int code;        // of mpiexec; 128 + signal if a signal ended it
    int interrupted; // the first signal that asked the job to end, or 0
    int ended_by;    // the signal of others that ended mpiexec, or 0
};

// Something else to be looked after while the job runs: ready() is called when there is something
// to read from the descriptor. It takes a bounded number of messages, for signals come first.
class JobListener {
  public:
    virtual int descriptor() const = 0;
    virtual void ready() = 0;
    // It has ended the ranks: mpiexec, which may hang of it, has to end soon.
    virtual bool has_ended_ranks() const = 0;
    // A signal has ended a rank, or it has ended without success before MPI_Init.
    virtual bool has_failed_early() const = 0;
    // mpiexec has not ended the ranks that wait for such a one in vain: this ends them.
    virtual void end_waiting_ranks() = 0;

  protected:
    ~JobListener() = default;
};

struct JobTraits {
    // Open MPI's launcher hands SIGUSR2 on to the ranks, MPICH's dies of it. Told to end, it ends
    // the ranks within a second, while MPICH's waits for them.
    bool is_open_mpi = false;
    // Of several programs that one command runs (apart.h): which stops and continues the processes
    // of all of them. The hosts of virtual ranks are for all, too, and none is ended with this job.
    bool is_one_of_several = false;
};

JobEnd run_job(const std::vector<std::string> &command, const JobTraits &traits,
               JobListener &listener);

// The signals that this command takes in hand while it waits for programs. One that it was told to
// ignore (nohup) stays ignored, also by the programs. But SIGINT, SIGQUIT and SIGTERM are taken all
// the same, as both MPIs' mpiexec take SIGINT and SIGTERM: a shell lets all commands that a script
// puts in the background ignore SIGINT and SIGQUIT, and a script has to be able to end its job.
sigset_t handled_signals();

} // namespace sennit::tool
