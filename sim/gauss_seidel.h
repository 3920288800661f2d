// SPDX-License-Identifier: Apache-2.0
// The iterative Gauss-Seidel method of paper 2 (Sala et al., section 7.1): a square of cells in
// square blocks, rows dealt to the ranks in one piece each. A block needs its upper and left
// neighbours of this iteration and the lower and right ones of the last. The versions are those of
// apps/gauss-seidel: the same calls of MPI in the same order, the same tasks and dependences.
#pragma once

#include "workload.h"

#include <string>

namespace sennit::sim {

enum class SeidelVersion : std::uint8_t {
    pure,        // whole rows, a rank a core, blocking calls
    nbuffer,     // blocks of columns, a rank a core: MPI_Isend and MPI_Irecv as soon as they can
    forkjoin,    // whole rows by the creating thread, then a task for each block, then taskwait
    sentinel,    // a task for each message, one after the other
    interop_blk, // the same without that order
    detach,      // such a task waits for nothing: its message completes it; also TAMPI_Iwait
};

// By the names that apps/gauss-seidel has for them.
const std::vector<std::string> &seidel_versions();
SeidelVersion find_seidel_version(const std::string &name);
// Without tasks a rank has one thread.
constexpr bool has_tasks(SeidelVersion version) {
    return version != SeidelVersion::pure && version != SeidelVersion::nbuffer;
}

struct GaussSeidelOptions {
    int cells = 16384; // in a row
    int block = 1024;  // cells in a block's row
    int iterations = 100;
    double cell_ns = 1.0; // a core's time for a cell
    SeidelVersion version = SeidelVersion::interop_blk;
};

class GaussSeidel final : public Workload {
  public:
    GaussSeidel(const GaussSeidelOptions &options, int ranks);

    std::vector<std::string> functions() const override {
        return {"block", "send up", "send down", "receive above", "receive below"};
    }
    bool has_tasks() const override { return sim::has_tasks(options_.version); }
    std::uint32_t data_of(int rank) const override;
    Tasks tasks_of(int rank, Marks marks) const override;
    std::uint64_t task_count() const override;

  private:
    enum Function : std::uint8_t { kBlock, kSendUp, kSendDown, kReceiveAbove, kReceiveBelow };

    int share_of(int rank, int all) const;
    std::uint32_t datum(int row, int column) const {
        return static_cast<std::uint32_t>(row * blocks_ + column);
    }
    // The one behind all blocks'.
    std::uint32_t last_datum(int rank) const { return data_of(rank) - 1; }
    void compute(TaskSpec &task, int rows, int columns) const;
    void communicate(TaskSpec &task, Function function, int rank, int column, int columns,
                     int iteration) const;
    void depend_on_neighbours(TaskSpec &task, int rank, int row, int column) const;
    Tasks message_tasks_of(int rank, Marks marks) const;
    Tasks whole_rows_of(int rank) const;
    Tasks column_blocks_of(int rank) const;

    GaussSeidelOptions options_;
    int blocks_, ranks_;
};

} // namespace sennit::sim
