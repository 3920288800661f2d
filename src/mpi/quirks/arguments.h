// SPDX-License-Identifier: Apache-2.0
// Arguments with which a call, or its non-blocking form, does not do what MPI says.
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <mpi.h>

namespace sennit::mpi {

// Collectives whose non-blocking form is no substitute for the blocking one. In a task a helper
// thread makes the blocking call (engine/delegate.h).

// The program's operations may do anything, open a parallel region say: not for whoever happens to
// test, in the midst of a task of his.
inline bool is_user_defined(MPI_Op op) {
    for (const MPI_Op predefined :
         {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR,
          MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP})
        if (op == predefined)
            return false;
    return true;
}

// MPICH 4.0's Ibcast between groups receives garbage where a type has gaps; its Bcast does not.
inline bool is_between_groups(MPI_Comm comm) {
    static constexpr auto test_inter = SENNIT_BARE(Comm_test_inter);
    int inter = 0;
    return comm != MPI_COMM_NULL &&
           outside_task([&] { return test_inter(comm, &inter); }) == MPI_SUCCESS && inter;
}

// Open MPI's MPI_Ineighbor_allgather says of a communicator without neighbors that another argument
// is wrong.
inline bool has_no_neighbors(MPI_Comm comm) {
    static constexpr auto test = SENNIT_BARE(Topo_test);
    int kind = MPI_UNDEFINED;
    return comm != MPI_COMM_NULL &&
           outside_task([&] { return test(comm, &kind); }) == MPI_SUCCESS && kind == MPI_UNDEFINED;
}

// While another thread makes a communicator, MPICH 4.0's Comm_idup of one with a single rank tries
// again and again, and takes memory each time. It never lets the other thread go on. A group of an
// intercommunicator may have a single rank, too. The answer is the same on all ranks of both
// groups: a blocking call and its twin do not meet.
inline bool has_group_of_one_rank(MPI_Comm comm) {
    static constexpr auto get_size = SENNIT_BARE(Comm_size);
    static constexpr auto test_inter = SENNIT_BARE(Comm_test_inter);
    static constexpr auto get_remote_size = SENNIT_BARE(Comm_remote_size);
    int size = 0;
    int is_inter = 0;
    return comm != MPI_COMM_NULL &&
           outside_task([&] {
               if (const int error = get_size(comm, &size); error != MPI_SUCCESS || size == 1)
                   return error;
               if (const int error = test_inter(comm, &is_inter); error != MPI_SUCCESS)
                   return error;
               return is_inter ? get_remote_size(comm, &size) : MPI_SUCCESS;
           }) == MPI_SUCCESS &&
           size == 1;
}

// Open MPI's Ialltoallv, and between groups Ialltoallw, send nothing where the count is zero. Yet
// they receive where the count is not, even if the type has no data: for ever. So such counts
// become zero.

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
