// SPDX-License-Identifier: Apache-2.0
// How much a collective call moves at this rank, in bytes: what tells whether the ranks have to
// answer each other many times (neighbours.h). The wrappers know which arguments count: some are
// significant at the root alone, or may be MPI_IN_PLACE (generate.py). MPI has accepted them.
//
// The partners of a rank are all ranks; those of the other group, if there are two.
#pragma once

#include "mpi/crowd/length.h"

#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

// The same with each partner.
std::int64_t volume_of_all(std::int64_t count, MPI_Datatype type, MPI_Comm comm);
// With each partner its own. `Count` is int or MPI_Count.
template <class Count>
std::int64_t volume_of_each(const Count *counts, MPI_Datatype type, MPI_Comm comm);
template <class Count>
std::int64_t volume_of_each(const Count *counts, const MPI_Datatype *types, MPI_Comm comm);

// What does this rank do in a call with a root?
enum class Part { root, other, none };
Part part_of(int root, MPI_Comm comm);

template <class AtRoot, class Elsewhere>
std::int64_t volume_by_root(int root, MPI_Comm comm, AtRoot at_root, Elsewhere elsewhere) {
    const Part part = part_of(root, comm);
    return part == Part::root ? at_root() : part == Part::other ? elsewhere() : 0;
}

} // namespace sennit::mpi
