// SPDX-License-Identifier: Apache-2.0
// Who a group's members are in the whole job.
#pragma once

#include "mpi/call/bare.h"

#include <cstdint>

namespace sennit::mpi {

// The group has to live as long.
class InWorld {
  public:
    explicit InWorld(MPI_Group group) : group_(group) {
        static constexpr auto size = SENNIT_BARE(Group_size);
        static constexpr auto of_comm = SENNIT_BARE(Comm_group);
        if (size(group_, &size_) != MPI_SUCCESS ||
            of_comm(MPI_COMM_WORLD, &world_) != MPI_SUCCESS) {
            size_ = 0;
            world_ = MPI_GROUP_NULL;
        }
    }
    ~InWorld() {
        static constexpr auto free = SENNIT_BARE(Group_free);
        if (world_ != MPI_GROUP_NULL)
            free(&world_);
    }
    InWorld(const InWorld &) = delete;
    InWorld &operator=(const InWorld &) = delete;

    // -1: it is in another job, or the program has got it wrong.
    int rank(int in_group) const {
        static constexpr auto translate = SENNIT_BARE(Group_translate_ranks);
        int rank = MPI_UNDEFINED;
        if (in_group < 0 || in_group >= size_ ||
            translate(group_, 1, &in_group, world_, &rank) != MPI_SUCCESS || rank == MPI_UNDEFINED)
            return -1;
        return rank;
    }
    // The same number where the same ranks are in the same order; 0: not all are of the job.
    std::uint64_t fingerprint() const {
        std::uint64_t sum = 0xcbf29ce484222325u; // FNV-1a
        for (int i = 0; i < size_; ++i) {
            const int member = rank(i);
            if (member < 0)
                return 0;
            sum = (sum ^ static_cast<std::uint64_t>(member)) * 0x100000001b3u;
        }
        return sum;
    }

  private:
    MPI_Group group_;
    MPI_Group world_ = MPI_GROUP_NULL;
    int size_ = 0;
};

} // namespace sennit::mpi
