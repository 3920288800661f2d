// SPDX-License-Identifier: Apache-2.0
#include "mpi/crowd/crowd.h"

namespace sennit::mpi {

constinit Crowd g_crowd;

} // namespace sennit::mpi
