// SPDX-License-Identifier: Apache-2.0
#include "mpi/wrap/wrap.h"

namespace sennit::mpi {

constinit Wrap g_wrap;

} // namespace sennit::mpi
