// SPDX-License-Identifier: Apache-2.0
// Open MPI's Ialltoallv, and between groups Ialltoallw, send nothing where the count is zero. Yet
// they receive where the count is not, even if the type has no data: for ever. So such counts
// become zero.
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"
#include "mpi/quirks/unfit_twins.h"

#include <cstdlib>
#include <cstring>
#include <mpi.h>

namespace sennit::mpi {

// MPI says what is wrong with a null handle.
inline bool has_no_data(MPI_Datatype type) {
    static constexpr auto type_size = SENNIT_BARE(Type_size_x); // the other knows no 2 GiB
    MPI_Count size = -1;
    return type != MPI_DATATYPE_NULL &&
           outside_task([&] { return type_size(type, &size); }) == MPI_SUCCESS && size == 0;
}

// The counts of a call, of one kind. Lives until the call is over: MPI may look at them until then.
template <class Count>
class PartsWithData {
  public:
    // `given`: the arguments are significant, not so with MPI_IN_PLACE.
    PartsWithData(bool given, const Count *counts, MPI_Datatype type, MPI_Comm comm)
        : counts_(counts) {
        if (given && counts && has_no_data(type))
            clear(comm, [](int) { return true; });
    }
    PartsWithData(bool given, const Count *counts, const MPI_Datatype *types, MPI_Comm comm)
        : counts_(counts) {
        if (given && counts && types)
            clear(comm, [&](int i) { return has_no_data(types[i]); });
    }
    ~PartsWithData() { std::free(own_); }
    PartsWithData(const PartsWithData &) = delete;
    PartsWithData &operator=(const PartsWithData &) = delete;
    const Count *counts() const { return own_ ? own_ : counts_; }

  private:
    template <class IsEmpty>
    void clear(MPI_Comm comm, IsEmpty is_empty) {
        const int partners = partners_of(comm);
        for (int i = 0; i < partners; ++i)
            if (counts_[i] != 0 && is_empty(i) && copy(partners))
                own_[i] = 0;
    }
    // Without memory the counts stay as they are.
    bool copy(int partners) {
        const std::size_t bytes = static_cast<std::size_t>(partners) * sizeof *own_;
        if (!own_ && (own_ = static_cast<Count *>(std::malloc(bytes))))
            std::memcpy(own_, counts_, bytes);
        return own_ != nullptr;
    }
    static int partners_of(MPI_Comm comm) {
        static constexpr auto size = SENNIT_BARE(Comm_size);
        static constexpr auto remote_size = SENNIT_BARE(Comm_remote_size);
        int partners = 0;
        const bool between = is_between_groups(comm);
        outside_task(
            [&] { return between ? remote_size(comm, &partners) : size(comm, &partners); });
        return partners;
    }

    const Count *counts_;
    Count *own_ = nullptr;
};

} // namespace sennit::mpi
