// SPDX-License-Identifier: Apache-2.0
#include "mpi/extensions/extensions.h"

namespace sennit::mpi {

constinit Extensions g_extensions;

} // namespace sennit::mpi
