// SPDX-License-Identifier: Apache-2.0
// The iterative Gauss-Seidel method of paper 2 (Sala et al., section 7.1): a square of cells in
// square blocks, block rows dealt to the ranks in one piece each. A block needs its upper and left
// neighbours of this iteration and the lower and right ones of the last. A task for each block,
// each boundary that is sent and each that is received.
#pragma once

#include "workload.h"

namespace sennit::sim {

struct GaussSeidelOptions {
    int cells = 16384; // in a row
    int block = 1024;  // cells in a block's row
    int iterations = 100;
    double cell_ns = 1.0; // a core's time for a cell
    // The communication tasks of a rank one after the other, as programs had to do it without tasks
    // that can be suspended ("Sentinel"); else all by themselves ("Interop").
    bool sentinel = false;
};

class GaussSeidel final : public Workload {
  public:
    GaussSeidel(const GaussSeidelOptions &options, int ranks);

    std::vector<std::string> functions() const override {
        return {"block", "send up", "send down", "receive above", "receive below"};
    }
    std::uint32_t data_of(int rank) const override;
    Tasks tasks_of(int rank, Marks marks) const override;
    std::uint64_t task_count() const override;

  private:
    int rows_of(int rank) const;

    GaussSeidelOptions options_;
    int blocks_, ranks_;
};

} // namespace sennit::sim
