// SPDX-License-Identifier: Apache-2.0
// How a rank ended, told to the `sennit run` that started the job. MPICH's mpiexec ends with 9 for
// a rank that SIGKILL ended and for one that called exit(9), and mixes the codes of several ranks:
// only the parent of a rank knows. So under `sennit run` each rank has a small parent of ours,
// `sennit exec --watch <address>`, which sends one datagram when the rank fails. On another machine
// than `sennit run`'s the datagram reaches nobody: then that parent writes the line itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sennit::tool {

struct RankReport {
    int rank;   // -1: unknown
    int pid;    // of the program
    int signal; // that ended it, or 0
    int code;   // its exit code, or 128 + signal
};

// "signal 9 (SIGKILL)"; real-time signals have no names.
std::string signal_text(int signal);
// One line for people about a rank that a signal ended.
std::string describe(const RankReport &report);

// The receiving end, an abstract Unix socket that lives as long as the object.
class ReportBox {
  public:
    ReportBox();
    ~ReportBox();
    ReportBox(const ReportBox &) = delete;
    ReportBox &operator=(const ReportBox &) = delete;

    const std::string &address() const { return address_; }
    // The next report that has arrived, if any.
    std::optional<RankReport> next();

  private:
    int socket_;
    std::string address_;
};

// Where the ranks say that they stand still, if their ends are told to `watch_address`.
std::string hang_link(const std::string &watch_address);

// A socket that receives what is sent to the abstract address `name`, without waiting. Throws.
int bind_datagrams(const std::string &name);

// Run the program as a child, report its failure to `address`; returns its exit code, 128 + signal
// if a signal ended it. Every signal that the launcher sends to the rank's process group reaches
// the child by itself, so the parent ignores them all.
int run_watched(const std::string &path, const std::vector<std::string> &command, int rank,
                const std::string &address);

// Replace this process by the program. Throws Failure.
[[noreturn]] void execute(const std::string &path, const std::vector<std::string> &command);

} // namespace sennit::tool
