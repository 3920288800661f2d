// SPDX-License-Identifier: Apache-2.0
// Answers the runtime's questions about waits and tickets, for reports of hangs.
#pragma once

#include "sennit.h"

namespace sennit::mpi {

extern const sennit_describer kDescriber;

} // namespace sennit::mpi
