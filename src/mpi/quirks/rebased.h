// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

namespace sennit::mpi {

// Of absolute addresses: the type for them behind a pointer that is not null, which MPICH 4.0's
// MPI_Pack refuses.
class Rebased {
  public:
    Rebased(const void *base, MPI_Datatype type) {
        static constexpr auto create = SENNIT_BARE(Type_create_hindexed);
        static constexpr auto commit = SENNIT_BARE(Type_commit);
        const int one = 1;
        const MPI_Aint back = -reinterpret_cast<MPI_Aint>(base);
        error = outside_task([&] {
            const int failure = create(1, &one, &back, type, &type_);
            return failure == MPI_SUCCESS ? commit(&type_) : failure;
        });
    }
    ~Rebased() {
        static constexpr auto free = SENNIT_BARE(Type_free);
        if (type_ != MPI_DATATYPE_NULL)
            outside_task([&] { return free(&type_); });
    }
    Rebased(const Rebased &) = delete;
    Rebased &operator=(const Rebased &) = delete;
    MPI_Datatype type() const { return type_; }
    int error = MPI_SUCCESS;

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

} // namespace sennit::mpi
