// SPDX-License-Identifier: Apache-2.0
// How well a run used its threads, in the hierarchy of the POP methodology for MPI and OpenMP
// together. docs/user/see.md has the formulas. Each efficiency is the product of those below it.
#pragma once

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

// The threads' time in a period: the parts add up to threads x its length.
struct Spent {
    Ns useful = 0;     // in tasks and in the program, MPI not counted
    Ns mpi = 0;        // in MPI calls, or without work because of messages
    Ns serial = 0;     // without work, outside of parallel regions
    Ns imbalance = 0;  // without work in a parallel region, while others of the rank had some
    Ns scheduling = 0; // a ready task was there, or no thread of the region worked

    Ns total() const { return useful + mpi + serial + imbalance + scheduling; }
    Ns outside_mpi() const { return total() - mpi; }
    Spent &operator+=(const Spent &other);
    Spent &operator-=(const Spent &other);

    // OpenMP's part: three factors, and their product.
    double serial_parts() const;
    double thread_balance() const;
    double overhead() const;
    double openmp() const;
    // MPI's part, and both.
    double mpi_part() const;
    double parallel() const;
};

// How many threads of a process do what.
struct Doing {
    int useful = 0, mpi = 0, serial = 0, imbalance = 0, scheduling = 0;
    bool operator==(const Doing &) const = default;
};

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
        Doing from; // until the next one
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
