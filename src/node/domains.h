// SPDX-License-Identifier: Apache-2.0
// The NUMA domain of each core, as the system's files tell it. Policies use it: a process that
// needs one more core gets one near its memory.
#pragma once

#include "node/core_table.h"

namespace sennit::node {

// Tell the table the domains of `cores`, then widen it by them (CoreTable::widen()). A core whose
// domain the system does not tell is in domain 0.
void widen(CoreTable &table, const Cores &cores);

} // namespace sennit::node
