// SPDX-License-Identifier: Apache-2.0
// MPI's functions behind this library's.
#pragma once

#include "mpi/interpose/bare.h"
#include "mpi/interpose/mpi_names.h"

#include <mpi.h>

namespace sennit::network {

// Ends the process if there is none.
void *find_bare(const char *name);

} // namespace sennit::network

#define BARE(name)                                                                                 \
    (sennit::interpose::Bare<sennit::network::find_bare, "PMPI_" #name, decltype(MPI_##name)>{})
