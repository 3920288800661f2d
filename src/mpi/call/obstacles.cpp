// SPDX-License-Identifier: Apache-2.0
#include "mpi/call/obstacles.h"

namespace sennit::mpi {

constinit std::atomic<int> g_obstacles{0};

} // namespace sennit::mpi
