// SPDX-License-Identifier: Apache-2.0
// Can code in this process suspend a task on an event from outside of the task graph?
#pragma once

namespace sennit::program {

// Looks at what the loaded objects import: MPI, sennit.h, alpi.h, omp_fulfill_event, taskyield, or
// dlsym, by which any of these could be reached. System libraries, which import dlsym for other
// reasons, do not count.
bool process_may_suspend();

} // namespace sennit::program
