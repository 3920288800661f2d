// SPDX-License-Identifier: Apache-2.0
// MPI libraries answer what is complete at once, small sends above all, with a request that many
// such calls share. It is known by its handle, need not be tested, and is nobody's to free: MPICH
// counts no references to its built-in requests, Open MPI none to its empty one.
#pragma once

#include "mpi/call/object.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sennit::mpi {

#ifdef MPICH_NUMVERSION

inline bool is_born_complete(MPI_Request request) {
    return static_cast<unsigned>(request) >> 30 == 1; // of the handles that are built in
}
inline void learn_born_complete() {}

#else

extern constinit std::atomic<std::uintptr_t> g_born_complete;

inline bool is_born_complete(MPI_Request request) {
    return handle_bits(request) == g_born_complete.load(std::memory_order_relaxed);
}
// Once MPI_Init has returned; before, none is known, nor in a program that has only sessions.
void learn_born_complete();

#endif

// Is it over, without a test? Then the handle is null, as a test would leave it. For who wants no
// status.
inline bool is_over_untested(MPI_Request *request) {
    if (!is_born_complete(*request))
        return false;
    *request = MPI_REQUEST_NULL;
    return true;
}

} // namespace sennit::mpi
