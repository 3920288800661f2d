// SPDX-License-Identifier: Apache-2.0
// The NUMA domain of each core, as the system's files tell it, for policies: who needs one more
// core gets one where its memory is.
#pragma once

#include "node/core_table.h"

namespace sennit::node {

// CoreTable::widen(), after the table has learned the domains of what it is to have more. What the
// system does not tell of is of domain 0.
void widen(CoreTable &table, const Cores &cores);

} // namespace sennit::node
