// SPDX-License-Identifier: Apache-2.0
// Collectives whose non-blocking form is no substitute for the blocking one. In a task a helper
// thread makes the blocking call (engine/delegate.h).
#pragma once

#include "mpi/call/bare.h"
#include "mpi/call/call_path.h"

#include <initializer_list>

namespace sennit::mpi {

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

} // namespace sennit::mpi
