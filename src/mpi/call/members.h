// SPDX-License-Identifier: Apache-2.0
// Which ranks of the whole job a communicator's processes are. Local calls; the caller is inside
// MPI, and the communicator is in use, so it lives.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

class Members {
  public:
    // Of an inter-communicator: those whom messages go to, or those of its own side.
    enum class Side { peers, own };
    explicit Members(MPI_Comm comm, Side side = Side::peers);
    ~Members();
    Members(const Members &) = delete;
    Members &operator=(const Members &) = delete;

    bool known() const { return of_comm_ != MPI_GROUP_NULL; }
    bool of_inter() const { return inter_; }
    int size() const { return size_; } // 0: not known
    int own_rank() const;              // of this process, or -1
    // -1: it is in another job, or the program has got it wrong.
    int in_world(int member) const;
    // The same number where the same ranks are in the same order; 0: not all are of the job.
    std::uint64_t fingerprint() const;

  private:
    MPI_Group of_comm_ = MPI_GROUP_NULL;
    MPI_Group world_ = MPI_GROUP_NULL;
    int size_ = 0;
    bool inter_ = false;
};

// The rank of a window's target in the whole job, or -1, as in_world().
int target_in_world(MPI_Win win, int target);

} // namespace sennit::mpi
