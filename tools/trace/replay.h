// SPDX-License-Identifier: Apache-2.0
// Each thread's events are replayed with the stacks of its fibers; then threads are put together.
#pragma once

#include "trace/trace_file.h"

namespace sennit::trace {

Process build_process(TraceFile file);

} // namespace sennit::trace
