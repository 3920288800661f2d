// SPDX-License-Identifier: Apache-2.0
// TALP's regions, and how a process's time in them becomes DLB's numbers. The times are the
// runtime's (sennit.h: sennit_get_time_spent), so the efficiencies are those of `sennit report`.
#pragma once

#include "base/spent_page.h"
#include "dlb_talp.h"

#include <cstdint>
#include <span>

namespace sennit::dlb {

// What a process brings to the metrics of a region.
struct Contribution {
    Spent spent;
    std::int64_t elapsed_ns = 0;
    std::int64_t threads = 0;
    std::int64_t measurements = 0;
    std::int64_t mpi_calls = 0;
    std::int64_t parallels = 0;
    std::int64_t tasks = 0;
    std::uint64_t node = 0; // the same on all processes of a node
    double average_threads = 0;
};

// Pure. All but the name. A process that has not been in the region does not count.
dlb_pop_metrics_t pop_metrics(std::span<const Contribution> all, int ranks);

// What the runtime has counted of this process. False: it counts nothing, or is not there.
bool read_spent(SpentNow &now);

// Of processes of a node: in MPI, and useful.
class NodeSum {
  public:
    void add(std::int64_t mpi_ns, std::int64_t useful_ns);
    // False: no process has been in the region.
    bool tell(const char *name, dlb_node_metrics_t &metrics) const;

  private:
    int processes_ = 0;
    std::int64_t mpi_ = 0, useful_ = 0, most_mpi_ = 0, most_useful_ = 0;
};

} // namespace sennit::dlb
