// SPDX-License-Identifier: Apache-2.0
// Can code in this process suspend a task on an event from outside of the task graph?
#pragma once

namespace sennit::program {

// Looks at what the loaded objects import (names.h). System libraries, which import dlsym for other
// reasons than a program has, do not count.
bool process_may_suspend();

} // namespace sennit::program
