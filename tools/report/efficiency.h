// SPDX-License-Identifier: Apache-2.0
// How well a run used its threads, in the hierarchy of the POP methodology for MPI and OpenMP
// together. docs/user/see.md has the formulas. Each efficiency is the product of those below it.
#pragma once

#include "base/spent.h"
#include "trace/trace_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sennit::report {

using trace::Job;
using trace::Ns;
using trace::Process;

// The part of a run that is looked at.
struct Window {
    Ns begin, end;
    Ns length() const { return end - begin; }
};

// Is this name of a span that of a communication library's call? Others are the program's own.
bool is_mpi_call(const std::string &name);

// How a process's threads spent their time.
class SpentTime {
  public:
    // Looks no further back than `begin`.
    SpentTime(const Process &process, Ns begin);
    Spent between(Ns begin, Ns end) const;
    int threads() const { return threads_; }

  private:
    struct Point {
        Ns at;
        Spent before;
        Spent from; // until the next one: in each nanosecond
    };
    Spent until(Ns at) const;

    int threads_ = 0;
    std::vector<Point> points_; // by time
};

// Of the whole job, a rank, a phase or the runs of a parallel region.
struct Efficiency {
    std::string name;
    Spent spent;
    double rank_balance = 1;  // MPI's load balance
    double communication = 1; // and its communication efficiency
};

struct Efficiencies {
    Efficiency job;
    std::vector<Efficiency> ranks;   // as the job's processes
    std::vector<Efficiency> phases;  // spans of the program's own; by time, most first
    std::vector<Efficiency> regions; // of several threads; by time, most first
    // The job's communication efficiency divided; without value where that is not known, and why.
    std::optional<double> serialization, transfer;
    std::string undivided;
};
Efficiencies efficiencies_of(const Job &job, const Window &window);

// How long the window would take if messages took no time: each rank computes as long as it did
// between its calls. Negative: cannot be told from the trace, for this reason.
struct IdealTime {
    Ns length = -1;
    std::string why;
};
// `outside_mpi`: of each process, per thread.
IdealTime ideal_time(const Job &job, const Window &window, const std::vector<double> &outside_mpi);

} // namespace sennit::report
