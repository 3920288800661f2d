// SPDX-License-Identifier: Apache-2.0
// How a rank ended, told to the `sennit run` that started the job. MPICH's mpiexec ends with 9 for
// a rank that SIGKILL ended and for one that called exit(9), and mixes the codes of several ranks:
// only the parent of a rank knows. So under `sennit run` each rank has a small parent of ours,
// `sennit exec --watch <socket>`, which says `watch <rank>` at its begin and `end ...`
// (rank_ends.h) at its end. Where another launcher starts the ranks, `sennit exec` is such a
// parent, too, and a neighbour hears it (launch/neighbours.h). So it is on another machine than
// `sennit run`'s, where there is no such socket. If no neighbour hears it there, that parent writes
// the line itself, but for signals by which launchers end ranks. Invariant: to mpiexec it ends as
// its program did, by the same signal.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

struct RankReport {
    int rank;                  // -1: unknown
    int pid;                   // of the program
    int signal;                // that ended it, or 0
    int code;                  // its exit code, or 128 + signal
    bool is_explained = false; // a line of ours has said why
};

// "signal 9 (SIGKILL)"; real-time signals have no names.
std::string signal_text(int signal);
// One line for people about a rank that a signal ended.
std::string describe(const RankReport &report);

// "rank 1 (process 123) has ended with code 7 before MPI_Init"
std::string describe_early_end(const RankReport &report);

// To the launcher's socket; false: it does not reach it.
bool send_report(const std::string &socket, const RankReport &report);

// Who hears the reports, where that may change while the program runs.
class Hearer {
  public:
    // poll() says when it has gone; -1: there is none any more.
    virtual int descriptor() const = 0;
    // It has gone: find another.
    virtual void replace() = 0;
    // Wait until what was reported is heard; not for ever.
    virtual void wait_until_heard() = 0;

  protected:
    ~Hearer() = default;
};

struct WatchedRank {
    int number = -1;    // -1: not known
    int told_alone = 0; // with so many ranks, those of its node (hang_judge.h); 0: not
};

// Run the program as a child, report its end to `socket`; returns its exit code, or ends by the
// signal that has ended it. Every signal that the launcher sends to the rank's process group
// reaches the child by itself, so the parent ignores them all.
int run_watched(const std::string &path, const std::vector<std::string> &command,
                const WatchedRank &rank, const std::string &socket, Hearer *hearer = nullptr);

// End this process as if there were only the program: mpiexec sees to a rank that a signal has
// ended at once. The core file is the program's.
[[noreturn]] void end_by(int signal);

// One by which launchers end ranks that have done nothing wrong?
bool is_request(int signal);

// Replace this process by the program. Throws Failure.
[[noreturn]] void execute(const std::string &path, const std::vector<std::string> &command);

} // namespace sennit::tool
