// SPDX-License-Identifier: Apache-2.0
// The MPI library behind us. Our library is put in front of it by preload, and overrides MPI_X and
// PMPI_X, which is where every language binding ends. MPI libraries call themselves through those
// names too: inside_mpi() tells such calls apart (call_path.h).
#pragma once

#include "mpi/interpose/bare.h"
#include "mpi/interpose/mpi_names.h"

#include <mpi.h>

// Exports a function as MPI_<name> and PMPI_<name>.
#define SENNIT_DEFINE(name, ...)                                                                   \
    SENNIT_INTERPOSE(sennit_MPI_##name, MPI_##name, PMPI_##name, __VA_ARGS__)
// One that most messages take.
#define SENNIT_DEFINE_OFTEN(name, ...)                                                             \
    SENNIT_INTERPOSE_WITH(SENNIT_HOT, sennit_MPI_##name, MPI_##name, PMPI_##name, __VA_ARGS__)

namespace sennit::mpi {

void *find_bare(const char *name);       // of the MPI library, which must have it
void *find_in_runtime(const char *name); // null: there is none

// The real PMPI_X.
#define SENNIT_BARE(name)                                                                          \
    (::sennit::interpose::Bare<::sennit::mpi::find_bare, "PMPI_" #name, decltype(MPI_##name)>{})

// Open MPI's constants are objects, whose addresses we know only if it was there from the start.
inline bool knows_constants() {
#ifdef OPEN_MPI
    const void *const constant = MPI_COMM_WORLD;
    return constant != nullptr;
#else
    return true;
#endif
}

// MPI_Init is over, and MPI_Finalize has not begun.
inline bool mpi_is_open() {
    static constexpr auto initialized = SENNIT_BARE(Initialized);
    static constexpr auto finalized = SENNIT_BARE(Finalized);
    int begun = 0;
    int ended = 0;
    return initialized(&begun) == MPI_SUCCESS && begun && finalized(&ended) == MPI_SUCCESS &&
           !ended;
}

// Does the program want no status?
inline bool is_ignored(const MPI_Status *statuses) {
    // MPICH has one value for both.
    const MPI_Status *const none[] = {MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE};
    return statuses == none[0] || statuses == none[1];
}

} // namespace sennit::mpi
